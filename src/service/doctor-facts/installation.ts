import type { Settings } from '../config/settings.ts';
import type { Outbound } from '../proxy/outbound.ts';

/** The installation that is examined: what it is configured to do, and how its requests leave. */
export interface Installation {
  readonly settings: Pick<Settings, 'config' | 'proxies'>;
  readonly outbound: Pick<Outbound, 'routeTo'>;
}
