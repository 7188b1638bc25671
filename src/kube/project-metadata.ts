import type { StoredObject } from './object-store.ts';

/** What names an object and tells its versions apart, and nothing else of it. */
export function projectMetadata(raw: unknown): StoredObject {
  const { namespace, name, uid, resourceVersion } = (raw as { metadata: StoredObject }).metadata;
  return { namespace, name, uid, resourceVersion };
}
