import type { Config } from '../service/config/settings.ts';
import { namespaceRulesOf } from '../service/config/policy-defaults.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { readContextOf } from '../service/compose/work-ports.ts';
import type { BaseReadContext } from './resource/read-base-policy.ts';

/** A base is polled once a minute at most. */
const minPollMs = 60_000;

/** The context that reading a BaseImagePolicy depends on. */
export function baseContextOf(foundation: Foundation): BaseReadContext {
  return { ...readContextOf(foundation), ...pollOf(foundation.settings.config) };
}

/** The interval of polls for policies that name none; none if the configuration has none. */
export function pollOf(config: Pick<Config, 'policyDefaults' | 'poll' | 'watch'>): Pick<BaseReadContext, 'pollIntervalMs'> {
  const { poll } = namespaceRulesOf(config).cluster;
  return poll === undefined ? {} : { pollIntervalMs: Math.max(minPollMs, poll) };
}
