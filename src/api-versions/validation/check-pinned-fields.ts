import { fieldOf, has, type Finding } from '../rules.ts';

/** With the digest in a field of its own: only what pins digests writes it, so a stale one would go on deciding what runs. */
export function checkPinnedFields(spec: unknown): Finding[] {
  const written = fieldOf(fieldOf(spec, 'update'), 'pin');
  const pin = written ?? (has(fieldOf(spec, 'select'), 'digest') || has(spec, 'verify') ? 'Digest' : 'Tag');
  const targets = fieldOf(spec, 'targets');
  if (pin !== 'Tag' || !Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown, index) => {
    if (!has(fieldOf(target, 'fields'), 'digest')) return [];
    return [
      { keys: ['targets', index, 'fields', 'digest'], message: 'only update.pin: Digest writes a digest: write it, or remove this field' },
    ];
  });
}
