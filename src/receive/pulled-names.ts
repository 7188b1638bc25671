/** What images are called by those who pull them, where a repository manager (Artifactory, Nexus) announces a repository of its own. */
import { normaliseRepository } from '../model/image-reference.ts';
import type { ClaimedPush } from '../model/push-event.ts';

/** For each repository by its key, or `*` for all others: what the names of its images begin with, as `HOST[:PORT][/PATH]`; `{key}` stands for the key. */
export type PulledNames = Readonly<Record<string, string | readonly string[]>>;

const placeholder = '{key}';
/** A key that may become a part of a host: senders have no say in which host it is. */
const plainKey = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i;

/** A push under each name that the configuration gives to its repository; as the sender says where it gives none. */
export function pulledNames(push: ClaimedPush, names: PulledNames | undefined): readonly ClaimedPush[] {
  if (names === undefined || push.within === undefined) return [push];
  const { key, image } = push.within;
  const name = Object.hasOwn(names, key) ? key : '*';
  const beginnings = [(Object.hasOwn(names, name) ? names[name] : undefined) ?? []].flat();
  if (beginnings.length === 0 || (!plainKey.test(key) && beginnings.some((beginning) => beginning.includes(placeholder)))) return [push];
  return beginnings.map((beginning) => {
    const [registry = '', ...path] = beginning.replaceAll(placeholder, () => key).split('/');
    return { ...push, registry, repository: [...path, image].join('/') };
  });
}

/** Whether the names of images can begin with this. */
export function canBegin(beginning: string): boolean {
  const [registry = '', ...path] = beginning.replaceAll(placeholder, 'key').split('/');
  try {
    const { path: normal } = normaliseRepository(registry, [...path, 'image', 'name'].join('/'));
    return registry !== '' && normal === [...path, 'image', 'name'].join('/');
  } catch {
    return false;
  }
}
