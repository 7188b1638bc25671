/** Records the requests to registries, and the state of their hosts, in metrics and log. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createBoundedLabel, maxRegistryLabels, type Metrics } from '../telemetry/metrics.ts';
import type { HostEvent } from './host-limits.ts';
import type { RequestRecord } from './http.ts';

const detailsEveryMs = 60_000;

/** Observes the registry client: records its requests and the state of hosts in metrics and log. */
export function observeRegistries({ logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics }): {
  onRequest: (request: RequestRecord) => void;
  onHostEvent: (event: HostEvent) => void;
} {
  const label = createBoundedLabel(maxRegistryLabels);
  const broken = new Set<string>();
  const loggedAt = new BoundedMap<string, number>(1_000);
  // Logs are limited by host, because tenants choose the hosts, and must not be able to flood the log.
  const isDue = (host: string) => {
    if (Date.now() - (loggedAt.get(host) ?? 0) < detailsEveryMs) return false;
    return loggedAt.set(host, Date.now()).has(host);
  };
  return {
    onRequest({ host, kind, status, durationMs }) {
      const answer = typeof status === 'number' ? `${Math.floor(status / 100)}xx` : status;
      metrics.registryRequests.inc({ host: label(host), kind, answer });
      metrics.registrySeconds.observe({ host: label(host), kind }, durationMs / 1_000);
    },
    onHostEvent(event) {
      const host = label(event.host);
      if (event.kind === 'refused') metrics.registryPostponed.inc({ host, reason: event.reason });
      if (event.kind === 'pulls') metrics.registryPullsRemaining.set({ host }, event.remaining);
      if (event.kind === 'details')
        logger[isDue(event.host) ? 'info' : 'debug']({ host: event.host, why: event.why }, 'registry failed, details');
      if (event.kind !== 'circuit') return;
      const { host: name, state, why } = event;
      metrics.registryCircuitOpen.set({ host }, state === 'closed' ? 0 : 1);
      if (state === 'open' && !broken.has(name)) logger.warn({ host: name, why }, 'registry failing, circuit open');
      if (state === 'open') broken.add(name);
      if (state === 'closed' && broken.delete(name)) logger.info({ host: name }, 'registry answering, circuit closed');
    },
  };
}
