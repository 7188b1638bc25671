/** The companions of images that ran before, for rollbacks that a user requests. Pure. */
import { defined } from '../model/defined.ts';
import type { Candidate } from '../model/image-reference.ts';
import { sameRepository, tryParseImageReference, type Repository } from '../model/image-reference.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { companionsIn } from './plan-companions.ts';
import { ownChanges, type Past } from './rollback.ts';

/** The image of a companion that ran. Its digest is known where it was written. */
export interface PastCompanion {
  readonly repository: Repository;
  readonly tag: string;
  readonly digest?: string;
}

/**
 * The companions that were changed together with an earlier image or, if it was only replaced, those that were replaced with it; undefined if the history does not
 * know all of them, also for a policy without companions. With `match: SameTag`, companions of another tag do not belong to it. A digest is known where it was written.
 */
export function pastCompanions(
  image: Candidate,
  { spec, history = [], aliases }: Pick<Past, 'spec' | 'aliases'> & Pick<PolicyStatus, 'history'>,
): PastCompanion[] | undefined {
  const { alongside } = spec;
  if (alongside === undefined) return undefined;
  const isImage = (text: string | undefined) => {
    const { tag, digest } = (text !== undefined && tryParseImageReference(text, aliases)) || {};
    return digest === undefined ? tag !== undefined && tag === image.tag : digest === image.digest;
  };
  const applied = history.flatMap((entry) => (isImage(entry.to) ? [(entry.alongside ?? []).map(({ to }) => to)] : []));
  // What was replaced may be a mixture that somebody has set since, so what ran first counts first.
  const replaced = history.flatMap((entry) => (isImage(entry.from) ? [(entry.alongside ?? []).map(({ from }) => from)] : [])).toReversed();
  for (const texts of [...applied, ...replaced]) {
    const images = texts.flatMap((text) => tryParseImageReference(text, aliases) ?? []);
    const found = alongside.images.flatMap(({ repository }) => {
      const one = images.find((other) => sameRepository(other.repository, repository));
      return one?.tag === undefined ? [] : [{ repository, tag: one.tag, ...defined({ digest: one.digest }) }];
    });
    const isMixed = alongside.match === 'SameTag' && found.some(({ tag }) => tag !== image.tag);
    if (found.length === alongside.images.length && !isMixed) return found;
  }
  return undefined;
}

/**
 * The set before the last change, if that changed companions alone: the own image stays then, and its former companions come back. Undefined after any other change,
 * and if not all of them are known.
 */
export function setBefore(past: Past): { readonly tag: string; readonly digest: string; readonly companions: PastCompanion[] } | undefined {
  const { spec, status, aliases, findWorkload } = past;
  const [last] = ownChanges(past);
  if (spec.alongside === undefined || last?.digest === undefined || last.trigger === 'Rollback' || last.from !== last.to) return undefined;
  const moved = (last.alongside ?? []).filter(({ from, to }) => from !== to);
  if (moved.length === 0) return undefined;
  const workload = findWorkload(last);
  const running = workload === undefined ? [] : companionsIn(workload, spec, aliases).map(({ image }) => image);
  const images = [...moved.map(({ from }) => from), ...running].flatMap((text) => tryParseImageReference(text, aliases) ?? []);
  const selected = (status.latest?.companions ?? []).flatMap(({ image, tag, digest }) => {
    const read = tryParseImageReference(image, aliases);
    return read === undefined ? [] : [{ repository: read.repository, tag, digest }];
  });
  const companions = spec.alongside.images.flatMap(({ repository }): PastCompanion[] => {
    const one = [...images, ...selected].find((other) => sameRepository(other.repository, repository));
    return one?.tag === undefined ? [] : [{ repository, tag: one.tag, ...defined({ digest: one.digest }) }];
  });
  return companions.length === spec.alongside.images.length ? { tag: last.tag, digest: last.digest, companions } : undefined;
}
