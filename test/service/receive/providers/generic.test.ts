import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { generic } from '../../../../src/service/receive/providers/generic.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: generic, credentials: ['authorization', 'x-signature-256', 'x-signature'] });

const digest = `sha256:${'a'.repeat(64)}`;
const parse = (body: unknown, headers: Record<string, string> = {}) => generic.parse({ headers, body: Buffer.from(JSON.stringify(body)) });

/** `registry/repository:tag@digest` of every push that is accepted. */
function acceptedOf(body: unknown, registryOverride?: string): string[] {
  const context = {
    receiver: 'r',
    provider: 'generic',
    aliases: new Map<string, string>(),
    now: new Date(0),
    ...(registryOverride && { registryOverride }),
  };
  return parse(body)
    .pushes.map((push) => acceptPush(push, context))
    .filter(isPushEvent)
    .map(({ repository: { registry, path }, tag, digest }) => `${registry}/${path}:${tag}${digest ? `@${digest}` : ''}`);
}

for (const [name, body, expected] of [
  ['a reference', { image: 'r.example.com:5000/team/api:v1' }, ['r.example.com:5000/team/api:v1']],
  ['a reference with a digest', { image: `r.example.com/team/api:v1@${digest}` }, [`r.example.com/team/api:v1@${digest}`]],
  ['a reference and a digest beside it', { image: 'r.example.com/team/api:v1', digest }, [`r.example.com/team/api:v1@${digest}`]],
  [
    'a reference and tags beside it',
    { image: 'r.example.com/team/api', tags: ['v1', 'v1.2'] },
    ['r.example.com/team/api:v1', 'r.example.com/team/api:v1.2'],
  ],
  ['the tag of the reference counts', { image: 'r.example.com/team/api:v1', tag: 'v2' }, ['r.example.com/team/api:v1']],
  ['a name of Docker Hub', { image: 'nginx:1.27' }, ['docker.io/library/nginx:1.27']],
  ['upper case and :443', { image: 'R.Example.com:443/Team/Api:V1' }, ['r.example.com/team/api:V1']],
  ['several images', { images: ['r.example.com/a:1', 'r.example.com/b:1'] }, ['r.example.com/a:1', 'r.example.com/b:1']],
  [
    'images as objects',
    {
      images: [
        { image: 'r.example.com/a', tag: '1' },
        { registry: 'r.example.com', repository: 'b', tags: ['1', '2'] },
      ],
    },
    ['r.example.com/a:1', 'r.example.com/b:1', 'r.example.com/b:2'],
  ],
  ['one and several', { image: 'r.example.com/a:1', images: ['r.example.com/b:1'] }, ['r.example.com/a:1', 'r.example.com/b:1']],
  [
    'the registry of all images',
    { registry: 'r.example.com', images: ['team/a:1', 'other.example.com/b:1'] },
    ['r.example.com/team/a:1', 'other.example.com/b:1'],
  ],
  ['fields', { registry: 'r.example.com', repository: 'team/api', tag: 'v1', digest }, [`r.example.com/team/api:v1@${digest}`]],
  [
    'tag and tags',
    { registry: 'r.example.com', repository: 'team/api', tag: 'v1', tags: ['v1', 'v2'] },
    ['r.example.com/team/api:v1', 'r.example.com/team/api:v2'],
  ],
  [
    'a repository that repeats the registry',
    { registry: 'r.example.com', repository: 'r.example.com/team/api', tag: '1' },
    ['r.example.com/team/api:1'],
  ],
  [
    'a repository that looks like a host',
    { registry: 'r.example.com', repository: 'team.x/api', tag: '1' },
    ['r.example.com/team.x/api:1'],
  ],
  ['a repository with its host', { repository: 'r.example.com/team/api', tag: '1' }, ['r.example.com/team/api:1']],
  ['a repository without a host', { repository: 'team/api', tag: '1' }, []],
  ["Keel's form", { name: 'r.example.com/team/api', tag: '1' }, ['r.example.com/team/api:1']],
  ["Keel's form for Docker Hub", { name: 'team/api', tag: '1' }, ['docker.io/team/api:1']],
  ['a blank registry', { registry: ' ', repository: 'team/api', tag: '1' }, []],
  ['no tag', { image: 'r.example.com/team/api' }, []],
  ['a digest only', { image: `r.example.com/team/api@${digest}` }, []],
  ['a signature', { image: `r.example.com/team/api:sha256-${'a'.repeat(64)}.sig` }, []],
  ['no name of an image', { image: 'https://r.example.com/team/api' }, []],
  [
    'tags that are numbers',
    { registry: 'r.example.com', repository: 'team/api', tags: [1.1, 'v1', null, {}] },
    ['r.example.com/team/api:v1'],
  ],
] as const) {
  test(`generic: a body with "${name}" yields the right images`, () => {
    assert.deepEqual(acceptedOf(body), expected);
    const { pushes, ignored } = parse(body);
    assert.ok(pushes.length + ignored.length > 0);
  });
}

test('generic: the configured registry replaces any other', () => {
  for (const body of [
    { image: 'nginx:1' },
    { image: 'r.example.com/nginx:1' },
    { repository: 'nginx', tag: '1' },
    { registry: 'x', name: 'nginx', tag: '1' },
  ]) {
    assert.deepEqual(acceptedOf(body, 'mirror.example.com'), ['mirror.example.com/nginx:1'], JSON.stringify(body));
  }
});

test('generic: the idempotency key is X-Delivery-Id, else the id, and without either the time distinguishes pushes', () => {
  const body = { image: 'r.example.com/a:1', id: 'b' };
  const keyOf = (sent: unknown, headers?: Record<string, string>) => parse(sent, headers).pushes[0]?.idempotencyKey;
  assert.equal(keyOf(body, { 'x-delivery-id': 'h' }), 'h');
  assert.equal(keyOf(body), 'b');
  assert.equal(keyOf({ ...body, id: 7 }), undefined);
});

test('generic: an ignored push has a reason', () => {
  const { ignored } = parse({ registry: 'r.example.com', repository: 'team/api', tags: [1.1], images: [7, {}, 'a b', { name: 'x' }] });
  assert.deepEqual(
    ignored.map(({ reason }) => reason),
    [
      'a tag is not a string',
      'an entry of images has an unexpected structure',
      'an entry of images has an unexpected structure',
      'the image name is not valid',
      'the image has neither a tag nor a digest',
    ],
  );
});

test('generic: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { tag: '1' }, { image: 7 }, { image: '' }, { images: {} }, { images: [] }, []]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});

const event = { specversion: '1.0', id: '7', source: 'https://r.example.com', type: 'container.push' };
const named = { repository: 'team/api', tag: 'v1' };

for (const [name, body, expected] of [
  ['the registry in `source`', { ...event, data: named }, ['r.example.com/team/api:v1']],
  [
    'what follows the host in `source` is no name',
    { ...event, source: 'https://r.example.com:5000/x/y?z', data: named },
    ['r.example.com:5000/team/api:v1'],
  ],
  ['a `source` without a scheme', { ...event, source: 'r.example.com/x', data: named }, ['r.example.com/team/api:v1']],
  ['a word as host', { ...event, source: 'http://registry/x', data: named }, ['registry/team/api:v1']],
  [
    '`registryUrl` before `source`',
    { ...event, data: { ...named, registryUrl: 'https://a.example.com/v2/' } },
    ['a.example.com/team/api:v1'],
  ],
  [
    '`registry` before `registryUrl`',
    { ...event, data: { ...named, registry: 'b.example.com', registryUrl: 'a.example.com' } },
    ['b.example.com/team/api:v1'],
  ],
  [
    'the host of the name before `source`',
    { ...event, data: { repository: 'c.example.com/team/api', tag: 'v1' } },
    ['c.example.com/team/api:v1'],
  ],
  [
    'a name that repeats the registry',
    { ...event, data: { repository: 'r.example.com/team/api', tag: 'v1', registryUrl: 'r.example.com' } },
    ['r.example.com/team/api:v1'],
  ],
  [
    'other names of the fields',
    { ...event, data: { repositoryName: 'team/api', imageTag: 'v1', imageDigest: digest } },
    [`r.example.com/team/api:v1@${digest}`],
  ],
  ['the form of this receiver as data', { ...event, data: { image: 'd.example.com/team/api:v1' } }, ['d.example.com/team/api:v1']],
  [
    'several images as data',
    { ...event, data: { images: ['d.example.com/a:1', { repository: 'b', tag: '2' }] } },
    ['d.example.com/a:1', 'r.example.com/b:2'],
  ],
  ['data in base64', { ...event, data_base64: Buffer.from(JSON.stringify(named)).toString('base64') }, ['r.example.com/team/api:v1']],
  [
    'a batch',
    [{ ...event, data: named }, 7, { ...event, id: '8', data: { ...named, tag: 'v2' } }],
    ['r.example.com/team/api:v1', 'r.example.com/team/api:v2'],
  ],
  ['a `source` that names no host', { ...event, source: '/pipelines/7', data: named }, []],
  ['a `source` that is a word', { ...event, source: 'myrepo', data: named }, []],
  ['a `source` that is a name of another kind', { ...event, source: 'urn:uuid:1', data: named }, []],
  ['a `source` with a user', { ...event, source: 'https://r.example.com@evil.example.com/', data: named }, []],
  ['a `source` of another scheme', { ...event, source: 'ftp://r.example.com/', data: named }, []],
  ['no `source`', { ...event, source: undefined, data: named }, []],
  ['data without a name', { ...event, data: { table: 'users' } }, []],
  ['no data', event, []],
  ...[
    'container.deleted',
    'com.example.ImageDeleted',
    'image.delete.v1',
    'org.example.image_pulled',
    'image.scanned',
    'tag.untagged',
    'x.removed',
  ].map((type) => [`no push: ${type}`, { ...event, type, data: named }, []] as const),
] as const) {
  test(`generic: a CloudEvent is read in the case "${name}"`, () => {
    assert.deepEqual(acceptedOf(body), expected);
    const { pushes, ignored } = parse(body);
    assert.ok(pushes.length + ignored.length > 0);
  });
}

test('generic: the configured registry replaces that of a CloudEvent', () => {
  const data = { ...named, registryUrl: 'a.example.com' };
  assert.deepEqual(acceptedOf({ ...event, data }, 'mirror.example.com'), ['mirror.example.com/team/api:v1']);
});

test('generic: reads a binary CloudEvent', () => {
  const headers = {
    'ce-specversion': '1.0',
    'ce-type': 'container.push',
    'ce-source': 'https://r.example.com',
    'ce-id': '9',
    'ce-time': '2026-03-01T12:00:00Z',
  };
  assert.deepEqual(parse(named, headers), {
    pushes: [
      {
        registry: 'r.example.com',
        repository: 'team/api',
        tag: 'v1',
        idempotencyKey: 'https://r.example.com 9',
        pushedAt: '2026-03-01T12:00:00Z',
      },
    ],
    ignored: [],
  });
});

test('generic: the idempotency key is that of the CloudEvent', () => {
  const [first, second] = parse(
    [
      { ...event, data: named },
      { ...event, id: '8', data: named },
    ],
    { 'x-delivery-id': 'h' },
  ).pushes;
  assert.deepEqual([first?.idempotencyKey, second?.idempotencyKey], ['https://r.example.com 7', 'https://r.example.com 8']);
  assert.equal(parse({ ...event, id: undefined, data: { ...named, id: 'x' } }).pushes[0]?.idempotencyKey, undefined);
});

test('generic: a batch without any CloudEvent is malformed', () => assert.throws(() => parse([named, 7]), MalformedBody));
