/** Which roles may do what. `src/http/auth/permissions.ts` decides; this only says it before the click. */
const ROLES = {
  __proto__: null,
  admin: ['admin'],
  trainer: ['trainer', 'admin'],
  evaluator: ['evaluator', 'admin'],
  scorer: ['trainer', 'evaluator', 'admin'],
}

/**
 * Why the caller may not do what needs this role, on this run if it names one; undefined if it may, or if the caller is not
 * known yet. `need`: admin, trainer, evaluator, or scorer (trainer or evaluator).
 */
export function describeDenial(caller, need, run) {
  if (!caller?.role) return undefined
  const allowed = ROLES[need] ?? ROLES.admin
  if (!allowed.includes(caller.role))
    return `This needs a key with the role ${allowed.join(', ').replace(/, (\w+)$/, ' or $1')}. Your key has the role ${caller.role}.`
  if (run !== undefined && caller.runs && !caller.runs.includes(run))
    return `Your key is bound to ${caller.runs.join(', ')} and may not change ${run}.`
  return undefined
}
