/** The wires of reward URLs. A new trainer is a file with its wire, and a line here. */
import type { RewardWire } from '../reward-route.ts'
import { openrlhfWire } from './openrlhf.ts'
import { samplesWire } from './samples.ts'
import { slimeWire } from './slime.ts'

export const REWARD_WIRES: readonly RewardWire<object, object>[] = [samplesWire, openrlhfWire, slimeWire]
