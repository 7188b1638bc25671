/** What metrics and log tell of registries. */
import { BoundedMap } from '../async/bounded-map.ts';
import type { HostEvent } from '../registry/host-limits.ts';
import type { RequestRecord } from '../registry/http.ts';
import { createBoundedLabel, maxRegistryLabels } from '../telemetry/bounded-label.ts';
import type { Foundation } from './foundation.ts';
import { recordRegistryRequest } from './trace-requests.ts';

const detailsEveryMs = 60_000;

/** Listeners for the client of registries. */
export function observeRegistries({ logger, metrics, tracing }: Pick<Foundation, 'logger' | 'metrics' | 'tracing'>): {
  onRequest: (request: RequestRecord) => void;
  onHostEvent: (event: HostEvent) => void;
} {
  const label = createBoundedLabel(maxRegistryLabels);
  const broken = new Set<string>();
  const told = new BoundedMap<string, number>(1_000);
  // Tenants choose the hosts, and must not fill the log.
  const isNews = (host: string) => {
    if (Date.now() - (told.get(host) ?? 0) < detailsEveryMs) return false;
    return told.set(host, Date.now()).has(host);
  };
  return {
    onRequest(request) {
      const { host, kind, status, durationMs } = request;
      const answer = typeof status === 'number' ? `${Math.floor(status / 100)}xx` : status;
      metrics.registryRequests.inc({ host: label(host), kind, answer });
      metrics.registrySeconds.observe({ host: label(host), kind }, durationMs / 1_000);
      if (tracing !== undefined) recordRegistryRequest(request, tracing);
    },
    onHostEvent(event) {
      const host = label(event.host);
      if (event.kind === 'refused') metrics.registryPostponed.inc({ host, reason: event.reason });
      if (event.kind === 'pulls') metrics.registryPullsRemaining.set({ host }, event.remaining);
      if (event.kind === 'details')
        logger[isNews(event.host) ? 'info' : 'debug']({ host: event.host, why: event.why }, 'registry failed, details');
      if (event.kind !== 'circuit') return;
      const { host: name, state, why } = event;
      metrics.registryCircuitOpen.set({ host }, state === 'closed' ? 0 : 1);
      if (state === 'open' && !broken.has(name)) logger.warn({ host: name, why }, 'registry failing, circuit open');
      if (state === 'open') broken.add(name);
      if (state === 'closed' && broken.delete(name)) logger.info({ host: name }, 'registry answering, circuit closed');
    },
  };
}
