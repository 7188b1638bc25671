/** The places that a caller may see, and the filters of lists of places. */
import type { Each } from '../../core/async/in-parallel.ts';
import { placesOf, type Place, type PlaceState } from '../explain/running-places.ts';
import type { Access } from './access.ts';
import type { ApiPorts } from './ports.ts';
import { listVisible, policiesOf } from './see-policies.ts';

export interface PlaceFilter {
  /** The repository, as `registry/path` in normal form. */
  readonly repository?: string | undefined;
  readonly tag?: string | undefined;
  /** The beginning of a digest, with or without its algorithm. */
  readonly digest?: string | undefined;
  /** The namespace of the workload. */
  readonly runsIn?: string | undefined;
  /** Part of NAMESPACE/NAME of the workload, in any case. */
  readonly workload?: string | undefined;
  /** Part of the repository, tag, digest, workload or policy, in any case. */
  readonly search?: string | undefined;
  readonly state?: PlaceState | undefined;
}

/** `isComplete`: whether the workloads of all these policies are known. */
export interface SeenPlaces {
  readonly places: readonly Place[];
  readonly isComplete: boolean;
}

/** The places of the policies that the caller may list, of one repository or of all. Throws AccessError as `listVisible` does. */
export async function seePlaces(
  ports: ApiPorts,
  access: Access,
  { namespace, repository }: { readonly namespace?: string | undefined; readonly repository?: string | undefined },
): Promise<SeenPlaces> {
  const { cluster } = policiesOf(ports);
  const visible = await listVisible(ports, access, namespace);
  const places: Place[] = [];
  let isComplete = true;
  // Ten thousand plans take seconds, and pushes must not wait for them.
  await ports.turns.each(visible, ({ policy, image }) => {
    if (image === undefined || (repository !== undefined && image !== repository)) return;
    const found = placesOf(policy, cluster);
    if (found === undefined) isComplete = false;
    else places.push(...found);
  });
  return { places, isComplete };
}

/** The places that match a filter. */
export async function filterPlaces(places: readonly Place[], filter: PlaceFilter, each: Each): Promise<Place[]> {
  const { repository, tag, digest, runsIn, state } = filter;
  const [text, name] = [filter.search?.toLowerCase(), filter.workload?.toLowerCase()];
  const found: Place[] = [];
  await each(places, (place) => {
    const isFound =
      (repository === undefined || place.repository === repository) &&
      (tag === undefined || place.tag === tag) &&
      (digest === undefined || hasDigest(place, digest)) &&
      (runsIn === undefined || place.workload.namespace === runsIn) &&
      (name === undefined || workloadName(place).includes(name)) &&
      (text === undefined || mentions(place, text)) &&
      (state === undefined || place.state === state);
    if (isFound) found.push(place);
  });
  return found;
}

/** Whether the digest of an image begins like this: the short form of a digest has no algorithm. */
export function hasDigest({ digest = '' }: { readonly digest?: string }, start: string): boolean {
  return digest.startsWith(start) || digest.slice(digest.indexOf(':') + 1).startsWith(start);
}

function workloadName({ workload }: Place): string {
  return `${workload.namespace}/${workload.name}`;
}

function mentions(place: Place, text: string): boolean {
  const { repository, tag = '', digest = '', policy } = place;
  return [`${repository}:${tag}`, digest, workloadName(place), `${policy.namespace}/${policy.name}`].some((part) =>
    part.toLowerCase().includes(text),
  );
}
