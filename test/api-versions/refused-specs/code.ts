import { byCode, deployment, release, specWith, withTarget, withWindow, withSelector, type RefusedSpec } from './specs.ts';

/** What only code can check. */
export const code: readonly RefusedSpec[] = [
  byCode('an image in capitals', specWith({ image: 'harbor.example.com/Shop/we b' }), 'spec.image', 'is not a repository path'),
  byCode('a host that is none', specWith({ image: 'harbor_1.example.com/web' }), 'spec.image', 'is not a registry host'),
  byCode('a scheme', specWith({ image: 'https://harbor.example.com/web' }), 'spec.image', 'is not'),
  byCode(
    'a range',
    specWith({ select: { semver: { range: 'newest' } } }),
    'spec.select.semver.range',
    'write a version range',
    'InvalidTagPolicy',
  ),
  byCode(
    'an impossible range',
    specWith({ select: { semver: { range: '>2 <1' } } }),
    'spec.select.semver.range',
    'no version is in',
    'InvalidTagPolicy',
  ),
  byCode('allow', specWith({ tags: { allow: '(' } }), 'spec.tags.allow', 'missing closing )', 'InvalidTagPolicy'),
  byCode('a look-ahead', specWith({ tags: { allow: '(?!a)' } }), 'spec.tags.allow', 'is not RE2 syntax', 'InvalidTagPolicy'),
  byCode('ignore', specWith({ tags: { ignore: ['a', '['] } }), 'spec.tags.ignore[1]', 'is not RE2 syntax', 'InvalidTagPolicy'),
  byCode(
    'no such group',
    specWith({ tags: { allow: 'v(?P<a>.)', extract: '$b' } }),
    'spec.tags.extract',
    'no group "b"; its groups are "a", 1',
    'InvalidTagPolicy',
  ),
  byCode(
    'no such number',
    specWith({ tags: { allow: 'v(.)(.)', extract: '$3' } }),
    'spec.tags.extract',
    'no group "3"; its groups are 1 to 2',
    'InvalidTagPolicy',
  ),
  byCode(
    'a group and more',
    specWith({ tags: { allow: 'v(?P<a>.)', extract: '$a_1' } }),
    'spec.tags.extract',
    'write "${a}"',
    'InvalidTagPolicy',
  ),
  byCode(
    'no group at all',
    specWith({ tags: { allow: 'v(.)', extract: '$$1' } }),
    'spec.tags.extract',
    'all tags would be equal',
    'InvalidTagPolicy',
  ),
  byCode('a time zone', withWindow({ timeZone: 'Europe/Atlantis' }), 'spec.update.windows[0].timeZone', 'is no time zone'),
  byCode(
    'a label name',
    withSelector({ matchLabels: { 'a b': 'c' } }),
    'spec.targets[0].selector.matchLabels.a b',
    'is no name of a label',
  ),
  byCode(
    'a label key',
    withSelector({ matchExpressions: [{ key: 'a/b/c', operator: 'Exists' }] }),
    'spec.targets[0].selector.matchExpressions[0].key',
    'is no name of a label',
  ),
  byCode(
    'a kind of nobody',
    withTarget({ kind: 'Rollout' }),
    'spec.targets[0].kind',
    'write its apiVersion as well',
    'UnsupportedTargetKind',
  ),
  byCode(
    'fields of a Deployment with its version',
    withTarget({ apiVersion: 'apps/v1', fields: { tag: 'a.b' } }),
    'spec.targets[0].fields',
    'remove fields',
    'UnsupportedTargetKind',
  ),
  byCode(
    'a field of the status',
    withTarget({ fields: { image: 'status.image' } }, release),
    'spec.targets[0].fields.image',
    'fields of status are not written',
  ),
  byCode(
    'a workload twice',
    specWith({ targets: [deployment, { ...deployment, apiVersion: 'apps/v1' }] }),
    'spec.targets[1]',
    'in targets[0]',
  ),
  byCode(
    'a selector twice',
    specWith({
      targets: [
        { a: 'x', b: 'y' },
        { b: 'y', a: 'x' },
      ].map((matchLabels) => ({ kind: 'Deployment', selector: { matchLabels } })),
    }),
    'spec.targets[1]',
    'Deployment with this selector is a target already',
  ),
  byCode(
    'a field twice',
    specWith({
      targets: [
        { ...release, fields: { tag: 'spec.a' } },
        { ...release, fields: { image: 'spec.a' } },
      ],
    }),
    'spec.targets[1].fields.image',
    'spec.a of HelmRelease web is a target already',
  ),
  byCode(
    'a digest that nobody writes',
    withTarget({ fields: { tag: 'a.b', digest: 'a.c' } }, release),
    'spec.targets[0].fields.digest',
    'only update.pin: Digest',
  ),
];
