import { normaliseRegistry } from '../../core/model/image-reference.ts';

/** The largest share of a host's concurrency slots that polls use. The others are for pushes. */
const share = 1 / 4;
const defaultConcurrency = 8;

/** How many polls of a host may run at the same time in one process, according to its settings. */
export function pollSlotsOf(
  registries: readonly { readonly host: string; readonly concurrency?: number | undefined }[],
): (host: string) => number {
  const configured = new Map(registries.map(({ host, concurrency }) => [normaliseRegistry(host), concurrency]));
  return (host) => Math.max(1, Math.floor((configured.get(host) ?? defaultConcurrency) * share));
}
