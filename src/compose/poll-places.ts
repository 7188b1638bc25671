import { normaliseRegistry } from '../model/image-reference.ts';

/** The share of a host's places that polls take at most: the others are for pushes. */
const share = 1 / 4;
const defaultConcurrency = 8;

/** How many polls of a host may run at once in one process, by its settings. */
export function pollPlacesOf(
  registries: readonly { readonly host: string; readonly concurrency?: number | undefined }[],
): (host: string) => number {
  const configured = new Map(registries.map(({ host, concurrency }) => [normaliseRegistry(host), concurrency]));
  return (host) => Math.max(1, Math.floor((configured.get(host) ?? defaultConcurrency) * share));
}
