import { bySchema, deployment, specWith, withTarget, withSelector, times, type RefusedSpec } from './specs.ts';

/** What is larger than its bound. */
export const bounds: readonly RefusedSpec[] = [
  bySchema('a long image', specWith({ image: 'a'.repeat(256) }), 'spec.image', 'Too long', 'at most 255 characters'),
  bySchema(
    'a long range',
    specWith({ select: { semver: { range: ' '.repeat(513) } } }),
    'spec.select.semver.range',
    'Too long',
    'at most 512 characters',
  ),
  bySchema('a long pattern', specWith({ tags: { allow: 'a'.repeat(513) } }), 'spec.tags.allow', 'Too long', 'at most 512 characters'),
  bySchema(
    'many patterns',
    specWith({ tags: { ignore: times(33, () => 'a') } }),
    'spec.tags.ignore',
    'must have at most 32 items',
    'at most 32 entries',
  ),
  bySchema(
    'many platforms',
    specWith({ platforms: times(17, (i) => `linux/a${i}`) }),
    'spec.platforms',
    'must have at most 16 items',
    'at most 16 entries',
  ),
  bySchema(
    'many targets',
    specWith({ targets: times(65, (i) => ({ ...deployment, name: `a${i}` })) }),
    'spec.targets',
    'must have at most 64 items',
    'at most 64 entries',
  ),
  bySchema(
    'many windows',
    specWith({ update: { windows: times(33, () => ({ from: '01:00', to: '02:00' })) } }),
    'spec.update.windows',
    'must have at most 32 items',
    'at most 32 entries',
  ),
  bySchema(
    'many secrets',
    specWith({ pullSecrets: times(17, () => ({ name: 'a' })) }),
    'spec.pullSecrets',
    'must have at most 16 items',
    'at most 16 entries',
  ),
  bySchema('a long name', withTarget({ name: 'a'.repeat(254) }), 'spec.targets[0].name', 'Too long', 'at most 253 characters'),
  bySchema(
    'many labels',
    withSelector({ matchLabels: Object.fromEntries(times(33, (i) => [`a${i}`, 'b'])) }),
    'spec.targets[0].selector.matchLabels',
    'must have at most 32 items',
    'at most 32',
  ),
];
