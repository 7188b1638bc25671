import { type BaseChange, type Rule, shown } from './rule.ts';

/** Compares the folders that get a volume. Files of the application in such a folder are hidden or lost. */
export const volumes: Rule = {
  id: 'VolumesChanged',
  about: 'The base declares other volumes, which the application takes over.',
  check(change) {
    const changed = changedName(change, 'Volumes');
    return changed && `the base ${changed.isNew ? 'declares' : 'no longer declares'} the volume ${shown(changed.name)}`;
  },
};

/** A name that only one of the two bases has, unless the application has set or removed it itself. */
export function changedName(
  { application, oldBase, newBase }: BaseChange,
  field: 'ExposedPorts' | 'Volumes',
): { readonly name: string; readonly isNew: boolean } | undefined {
  const [own = {}, before = {}, after = {}] = [application, oldBase, newBase].map(({ config }) => config.config?.[field] ?? {});
  const removed = Object.keys(before).find((name) => !Object.hasOwn(after, name) && Object.hasOwn(own, name));
  if (removed !== undefined) return { name: removed, isNew: false };
  const added = Object.keys(after).find((name) => !Object.hasOwn(before, name) && !Object.hasOwn(own, name));
  return added === undefined ? undefined : { name: added, isNew: true };
}
