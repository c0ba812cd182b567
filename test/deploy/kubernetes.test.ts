/** The manifests against the schemas of Kubernetes and KEDA, against each other, and against the server. */
import { ScaledObject, TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Namespace, PersistentVolumeClaim, Secret, Service } from 'kubernetes-models/v1'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EnvironmentSchema, readConfig } from '../../src/platform/environment.ts'
import { openWorld, takeItems, type World } from '../world.ts'
import { parseDockerfile, requireLastInstruction } from './dockerfile.ts'
import { changed, type Manifest, manifests, placesIn, text } from './files.ts'

const SCHEMAS = {
  ConfigMap,
  Deployment,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ScaledObject,
  Secret,
  Service,
  StatefulSet,
  TriggerAuthentication,
}
const ALL = manifests()
const NAMESPACE = 'reasoning-gym'
const of = (kind: string, name: string): Manifest => {
  const found = ALL.find((each) => each.kind === kind && each.metadata.name === name)
  if (!found) throw new Error(`no ${kind} ${name}`)
  return found
}
const containerOf = (name: string) => of('Deployment', name).spec.template.spec.containers[0]
const ROLES = ['api', 'worker']

/** Undefined if it is valid. The schemas let pass what they do not know. */
function refusal(manifest: Manifest): string | undefined {
  const Schema = SCHEMAS[manifest.kind as keyof typeof SCHEMAS]
  try {
    // biome-ignore lint/suspicious/noExplicitAny: what it is worth is what is asked
    const model = new (Schema as any)(manifest)
    model.validate()
    return model.apiVersion === manifest.apiVersion ? undefined : `apiVersion: ${model.apiVersion}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

it('every manifest is valid', () => {
  expect(ALL.map((each) => [each.file, each.kind, each.metadata.name, refusal(each)])).toEqual(
    ALL.map((each) => [each.file, each.kind, each.metadata.name, undefined]),
  )
})

it('every field is one that its schema knows: with nonsense in its place the manifest is refused', () => {
  const unknown = ALL.flatMap((manifest) =>
    placesIn(manifest)
      .filter(([first]) => first !== 'file')
      .filter((way) => refusal(changed(manifest, way, [[true]])) === undefined)
      .map((way) => `${manifest.file} ${manifest.kind} ${way.join('.')}`),
  )
  expect(unknown).toEqual([])
})

it('all lie in one namespace, that the restricted pod security standard holds for', () => {
  for (const { kind, metadata } of ALL)
    expect([kind, metadata.namespace]).toEqual([kind, kind === 'Namespace' ? undefined : NAMESPACE])
  const pods = ALL.flatMap(({ spec }) => (spec?.template ? [spec.template.spec] : []))
  expect(pods.length).toBe(3)
  for (const pod of pods) {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(pod.automountServiceAccountToken).toBe(false)
    for (const { securityContext, resources } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.limits.memory).toBeDefined()
      expect(resources.requests).toHaveProperty('cpu')
    }
  }
})

it('what refers to another object refers to one that is there', () => {
  const labels = ALL.flatMap(({ spec }) => (spec?.template ? [spec.template.metadata.labels.app] : []))
  for (const { kind, metadata, spec } of ALL) {
    const wanted = spec?.selector?.matchLabels?.app ?? (kind === 'Service' ? spec.selector.app : undefined)
    if (wanted) expect([metadata.name, labels.includes(wanted)]).toEqual([wanted, true])
    if (spec?.template) expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
  }
  const secrets = of('Secret', 'reasoning-gym').stringData
  const containers = ALL.flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
  for (const { env = [] } of containers) {
    for (const { valueFrom } of env) if (valueFrom) expect(secrets).toHaveProperty(valueFrom.secretKeyRef.key)
  }
  expect(of('ScaledObject', 'worker').spec.scaleTargetRef.name).toBe(of('Deployment', 'worker').metadata.name)
  expect(of('TriggerAuthentication', 'redis').spec.secretTargetRef[0].key).toBe('REDIS_PASSWORD')
  for (const role of ROLES) {
    const { volumes, containers: all } = of('Deployment', role).spec.template.spec
    const names = volumes.map(({ name }: { name: string }) => name)
    for (const { name } of all[0].volumeMounts) expect(names).toContain(name)
    const claim = volumes.find((volume: { persistentVolumeClaim?: object }) => volume.persistentVolumeClaim)
    expect(of('PersistentVolumeClaim', claim.persistentVolumeClaim.claimName)).toBeDefined()
  }
})

it.each(ROLES)('the settings of %s are settings of the server, and can be read', (role) => {
  const { env, args } = containerOf(role)
  const settings = { ...of('ConfigMap', 'reasoning-gym').data }
  for (const { name, value } of env) settings[name] = value ?? of('Secret', 'reasoning-gym').stringData?.[name] ?? ''
  for (const name of Object.keys(settings)) {
    if (name !== 'REDIS_PASSWORD') expect(Object.keys(EnvironmentSchema.shape)).toContain(name)
  }
  const url = settings.REDIS_URL?.replace('$(REDIS_PASSWORD)', settings.REDIS_PASSWORD ?? '')
  expect(readConfig({ ...settings, REDIS_URL: url })).toMatchObject({ REDIS_URL: url, PYTHON_WORKERS: 2 })
  expect(args).toEqual([role])
})

it('probes, ports and user are those of the image', () => {
  const { PORT, WORKER_PORT } = readConfig({})
  const stages = parseDockerfile(text('Dockerfile'))
  const user = Number(requireLastInstruction(stages.at(-1), 'USER').value)
  for (const [role, port] of [
    ['api', PORT],
    ['worker', WORKER_PORT],
  ] as const) {
    const container = containerOf(role)
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
    expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'http' })
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' })
    expect(of('Deployment', role).spec.template.spec.securityContext.runAsUser).toBe(user)
  }
  expect(of('NetworkPolicy', 'api').spec.ingress[0].ports).toEqual([{ port: PORT }])
})

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('KEDA counts the list in which groups wait', async () => {
  await world.call('PUT', '/runs/scaled', {})
  const [item] = await takeItems(world, 'scaled', 1)
  const { status } = await world.call('POST', '/rollouts', {
    run: 'scaled',
    item_id: item?.id,
    rollouts: [{ completion: 'x' }],
  })
  expect(status).toBe(202)
  const [groups, lanes] = of('ScaledObject', 'worker').spec.triggers
  expect(groups.metadata.listName).toBe('{rgs:jobs}:score-group:wait')
  expect(lanes.metadata.listName).toBe('{rgs:jobs}:generate-samples:wait')
  const key = groups.metadata.listName.replace('{rgs:', `{${world.prefix}:`)
  expect(await world.platform.redis.llen(key)).toBe(1)
  expect(of('ConfigMap', 'reasoning-gym').data?.REDIS_PREFIX).toBe('rgs')
})
