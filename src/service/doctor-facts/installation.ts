import type { Settings } from '../config/settings.ts';
import type { Outbound } from '../proxy/outbound.ts';

/** The installation that is examined: its configuration, and its outgoing connections. */
export interface Installation {
  readonly settings: Pick<Settings, 'config' | 'proxies'>;
  readonly outbound: Pick<Outbound, 'routeTo'>;
}
