import { fieldOf, has, type Finding } from '../rules.ts';

/** With the digest in a field of its own: only what pins digests writes it, so a stale one would go on deciding what runs, and it has no order. */
export function checkPinnedFields(spec: unknown): Finding[] {
  const written = fieldOf(fieldOf(spec, 'update'), 'pin');
  const pin = written ?? (has(fieldOf(spec, 'select'), 'digest') || has(spec, 'verify') ? 'Digest' : 'Tag');
  const targets = fieldOf(spec, 'targets');
  if (!Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown, index): Finding[] => {
    const fields = fieldOf(target, 'fields');
    if (!has(fields, 'digest')) return [];
    const keys = ['targets', index, 'fields', 'digest'];
    if (pin === 'Tag') return [{ keys, message: 'only update.pin: Digest writes a digest: write it, or remove this field' }];
    // Of two digests, nobody knows which one is newer.
    const isComparable = has(fields, 'tag') || has(fieldOf(spec, 'select'), 'digest');
    return isComparable
      ? []
      : [
          {
            keys,
            message: 'a digest alone does not tell what is newer: name the field of the tag as well, or follow a tag with select.digest',
          },
        ];
  });
}
