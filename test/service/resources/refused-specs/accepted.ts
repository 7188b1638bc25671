import { chartSpec, deployment, release, specWith, withKeyless, withTarget, withWindow } from './specs.ts';

/** Specs that look wrong and are not. */
export const acceptedSpecs: readonly (readonly [name: string, spec: object])[] = [
  ['the smallest', specWith()],
  ['fields that are null', specWith({ tags: null, update: null, minAge: null, rollout: { timeout: null } })],
  ['an image alongside', specWith({ alongside: { images: [{ image: 'harbor.example.com/shop/proxy', containers: ['proxy'] }] } })],
  [
    'tags that move, alongside by their commits',
    specWith({ select: { digest: { tag: 'latest' } }, alongside: { images: [{ image: 'nginx' }], match: 'SameRevision', within: '5m' } }),
  ],
  [
    'tags that move, alongside by their lists',
    specWith({ select: { digest: { tag: 'latest' } }, alongside: { images: [{ image: 'nginx' }], match: 'SameDigestList' } }),
  ],
  ['a port', specWith({ image: 'registry.example.com:5000/shop/web' })],
  ['capitals in a host, which has no case', specWith({ image: 'Harbor.Example.com:5000/shop/web' })],
  ['an empty range', specWith({ select: { semver: { range: '' } } })],
  ['a comma for "and"', specWith({ select: { semver: { range: '>=1.0.0, <2.0.0' } } })],
  ['one possible range of two', specWith({ select: { semver: { range: '>2 <1 || 3.x' } } })],
  ['an hour in seconds', specWith({ minAge: '3600s' })],
  ['the longest duration', specWith({ poll: { interval: '8784h' } })],
  ['groups by number, name and in braces', specWith({ tags: { allow: 'v(\\d+)-(?P<a>.)', extract: '$1.${a}-$0' } })],
  ['the largest count, and the code point of a letter', specWith({ tags: { allow: '[a-z]{1,128}\\x{1F433}?{', ignore: ['b{2,}'] } })],
  ['a window over midnight', withWindow({ from: '22:00', to: '06:00', timeZone: 'America/New_York' })],
  ['the same name in two namespaces', specWith({ targets: [deployment, { ...deployment, namespace: 'other' }] })],
  [
    'checks of each kind, with the defaults of all else',
    specWith({
      rollout: {
        checks: [
          { name: 'gate', phase: 'before', http: { url: 'https://checks.example.com', secretRef: { name: 'checks', key: 'key' } } },
          { name: 'errors', for: '5m', prometheus: { server: 'main', query: 'up', max: 0.01 } },
          { name: 'smoke', job: { cronJob: 'smoke' } },
          { name: 'success', analysis: { template: 'success-rate' } },
        ],
      },
    }),
  ],
  ['waves, with the defaults of all else', specWith({ rollout: { waves: { canaries: { matchLabels: { canary: 'true' } } } } })],
  ['the same name of two kinds', specWith({ targets: [deployment, { ...deployment, kind: 'StatefulSet' }] })],
  [
    'two fields of one object',
    specWith({
      targets: [
        { ...release, fields: { tag: 'spec.values.a.image.tag' } },
        { ...release, fields: { tag: 'spec.values.b.image.tag', repository: 'spec.values.b.image.repository' } },
      ],
    }),
  ],
  ['a chart', specWith(chartSpec)],
  [
    'a verified chart, whose version is written without a digest',
    specWith({ ...chartSpec, verify: { cosign: { keys: [{ secretRef: { name: 'a', key: 'b' } }] } } }),
  ],
  [
    'a chart by its digest',
    specWith({
      artifact: 'Chart',
      select: { digest: { tag: 'latest' } },
      targets: [{ apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', name: 'web', fields: { digest: 'spec.ref.digest' } }],
    }),
  ],
  ['entries of lists', withTarget({ fields: { image: 'spec.values.web[0].image' } }, release)],
  [
    'a digest where digests are pinned',
    specWith({
      targets: [{ ...release, fields: { tag: 'spec.values.image.tag', digest: 'spec.values.image.digest' } }],
      update: { pin: 'Digest' },
    }),
  ],
  ['a custom resource with a pod template', withTarget({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' })],
  [
    'keyless signers, by identity and by pattern',
    withKeyless([
      { issuer: 'https://accounts.google.com', identity: 'ada@example.com' },
      { issuer: 'https://a.example', identityPattern: '.*' },
    ]),
  ],
  [
    'a digest where signatures are demanded',
    specWith({
      targets: [{ ...release, fields: { tag: 'spec.values.image.tag', digest: 'spec.values.image.digest' } }],
      verify: { cosign: { keyless: [{ issuer: 'https://a.example', identity: 'b' }] } },
    }),
  ],
  ['tags that a mutable tag passes', specWith({ select: { digest: { tag: 'latest' } }, tags: { allow: 'l.*', ignore: ['x'] } })],
  ['a mutable tag with its pin', specWith({ select: { digest: { tag: 'latest' } }, update: { pin: 'Digest' } })],
];
