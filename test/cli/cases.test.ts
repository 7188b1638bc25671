/** `image-watcher test`: tags and times in, image or reason out. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { test as command } from '../../src/cli/test.ts';
import { UsageError } from '../../src/service/command-line/command.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const folder = tempFolder('cases');
const monday = '2026-03-02T10:00:00Z';

function policy(name: string, spec: object): object {
  return {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name, namespace: 'shop' },
    spec: { image: 'harbor.example.com/shop/web', targets: [{ kind: 'Deployment', name: 'web' }], ...spec },
  };
}

let count = 0;

/** Runs cases, all of which are about one policy. */
async function run(spec: object, cases: readonly object[], ...args: string[]) {
  const [manifest, file] = [`web-${++count}.yaml`, join(folder, `cases-${count}.yaml`)];
  writeFileSync(join(folder, manifest), stringify(policy('web', spec)));
  const named = cases.map((one, index) => ({ name: `case ${index}`, policy: 'shop/web', at: monday, ...one }));
  writeFileSync(file, stringify({ policies: [manifest], cases: named }));
  let [out, err] = ['', ''];
  const code = await command.run([file, ...args], { out: (text) => void (out += text), err: (text) => void (err += text) });
  return { code, out, err };
}

const versions = { select: { semver: { range: '>=1.0' } } };

interface Row {
  readonly title: string;
  readonly spec: object;
  readonly one: object;
}

const rows: readonly Row[] = [
  {
    title: 'the highest version runs, and never a feature branch',
    spec: versions,
    one: { images: ['1.4.1', '1.10.0', 'feature-2.0.0'], expect: { image: '1.10.0', reason: 'UpToDate' } },
  },
  {
    title: 'a push is applied',
    spec: versions,
    one: { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.2', reason: 'UpToDate' } },
  },
  {
    title: 'an older push is not applied',
    spec: versions,
    one: { images: ['1.4.2', { tag: '1.4.1', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.2' } },
  },
  {
    title: 'an image waits for its age',
    spec: { ...versions, minAge: '24h' },
    one: {
      images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }],
      expect: { image: '1.4.1', selected: '1.4.2', reason: 'MinAge' },
    },
  },
  {
    title: 'an image that is old enough runs',
    spec: { ...versions, minAge: '24h' },
    one: { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-01T09:00:00Z' }], expect: { image: '1.4.2' } },
  },
  {
    title: 'an image waits for a window',
    spec: { ...versions, update: { windows: [{ from: '12:00', to: '13:00' }] } },
    one: { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.1', reason: 'Window' } },
  },
  {
    title: 'an image waits for approval',
    spec: { ...versions, update: { mode: 'Approval' } },
    one: { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.1', reason: 'ApprovalRequired' } },
  },
  {
    title: 'an image that is approved runs',
    spec: { ...versions, update: { mode: 'Approval' } },
    one: { approved: true, images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.2' } },
  },
  {
    title: 'a tag that moves is followed by its digest',
    spec: { select: { digest: { tag: 'latest' } } },
    one: { images: ['latest', { tag: 'latest', at: '2026-03-02T09:00:00Z' }], expect: { image: 'latest', reason: 'UpToDate' } },
  },
  {
    title: 'the newest image is found by its creation time',
    spec: { select: { newest: {} } },
    one: {
      images: [
        { tag: 'b', at: '2026-03-01T09:00:00Z' },
        { tag: 'a', at: '2026-03-02T09:00:00Z' },
        { tag: 'c', at: '2026-03-02T09:30:00Z', created: '2026-01-01T00:00:00Z' },
      ],
      expect: { image: 'a' },
    },
  },
  {
    title: 'an image without its companion waits',
    spec: { ...versions, alongside: { images: [{ image: 'harbor.example.com/shop/proxy' }] } },
    one: {
      images: [
        '1.4.1',
        { tag: '1.4.1', at: '2026-03-01T09:00:00Z', repository: 'shop/proxy' },
        { tag: '1.4.2', at: '2026-03-02T09:50:00Z' },
      ],
      expect: { image: '1.4.1', reason: 'CompanionMissing' },
    },
  },
  {
    title: 'an image with its companion runs',
    spec: { ...versions, alongside: { images: [{ image: 'harbor.example.com/shop/proxy' }] } },
    one: {
      images: [
        '1.4.1',
        { tag: '1.4.1', at: '2026-03-01T09:00:00Z', repository: 'shop/proxy' },
        { tag: '1.4.2', at: '2026-03-02T09:50:00Z' },
        { tag: '1.4.2', at: '2026-03-02T09:55:00Z', repository: 'shop/proxy' },
      ],
      expect: { image: '1.4.2' },
    },
  },
  {
    title: 'an image without a demanded platform is passed over',
    spec: { ...versions, platforms: ['linux/arm64'] },
    one: { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z', platforms: ['linux/amd64'] }], expect: { image: '1.4.1' } },
  },
  {
    title: 'a policy without a matching tag has a reason',
    spec: versions,
    one: { runs: '1.0.0', images: ['main'], expect: { reason: 'NoMatchingTag' } },
  },
  {
    title: 'a policy that follows others has a reason',
    spec: { select: { proven: { policies: [{ name: 'staging' }] } }, update: { pin: 'Digest' } },
    one: { images: ['1.4.1'], expect: { reason: 'InvalidPolicy' } },
  },
];

describe('in a case of the command test,', () => {
  for (const { title, spec, one } of rows)
    it(title, async () => {
      const { code, out, err } = await run(spec, [one]);
      assert.deepEqual([code, err], [0, ''], out);
    });
});

it('the command test reports for a failed case what was found, and why', async () => {
  const { code, out } = await run({ ...versions, minAge: '24h' }, [
    { images: ['1.4.1', { tag: '1.4.2', at: '2026-03-02T09:00:00Z' }], expect: { image: '1.4.2', reason: 'UpToDate' } },
    { images: ['1.4.1'], expect: { image: '1.4.1' } },
  ]);
  assert.equal(code, 1);
  assert.equal(
    out,
    `FAIL shop/web: case 0
     runs 1.4.1, expected 1.4.2
     says MinAge, expected UpToDate
     MinAge: 1.4.2 waits until 2026-03-03T09:00:00Z, when it is as old as spec.minAge asks for
ok   shop/web: case 1
2 cases: 1 not as expected
`,
  );
});

it('the command test prints JUnit with a suite for each policy, and escapes all texts in it', async () => {
  const cases = [
    { name: '<&"> \u001b[31m', images: ['1.4.1'], expect: { image: '1.4.2' } },
    { images: ['1.4.1'], expect: { image: '1.4.1' } },
  ];
  const { code, out } = await run(versions, cases, '--output', 'junit');
  assert.equal(code, 1);
  assert.match(out, /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites>\n {2}<testsuite name="shop\/web" tests="2" failures="1">\n/);
  assert.ok(!out.includes('\u001b'));
  assert.match(out, /name="&lt;&amp;&quot;&gt; [^"]+">\n {6}<failure message="runs 1.4.1, expected 1.4.2">UpToDate: /);
  assert.match(out, /<testcase classname="shop\/web" name="case 1"\/>/);
});

it('the command test prints JSON with the results of all cases', async () => {
  const { out } = await run(versions, [{ images: ['1.4.1'], expect: { image: '1.4.1' } }], '--output', 'json');
  const found = { image: '1.4.1', selected: '1.4.1', reason: 'UpToDate', message: 'already runs 1.4.1' };
  assert.deepEqual(JSON.parse(out), { cases: [{ name: 'case 0', policy: 'shop/web', found, failures: [] }] });
});

const wrong: readonly (readonly [title: string, one: object, message: RegExp])[] = [
  ['a tag that YAML reads as a number', { images: [1.1], expect: { image: '1.1' } }, /cases\[0\]\.images\[0\] .*a tag in quotes/],
  ['a text that is no tag', { expect: { image: 'a b' } }, /cases\[0\]\.expect\.image "a b" is no tag: letters, digits and/],
  ['a text among the images that is no tag', { images: ['a b'] }, /cases\[0\]\.images\[0\] "a b" is no tag: letters, digits and/],
  ['a tag of what runs that YAML reads as a number', { runs: 1.1 }, /cases\[0\]\.runs is the number 1\.1: write it in quotes/],
  ['no expectation', { images: ['1.4.1'], expect: {} }, /at least one of image, selected and reason/],
  ['an unknown reason', { images: ['1.4.1'], expect: { reason: 'Nonsense' } }, /cases\[0\]\.expect\.reason/],
  ['an unknown field', { images: ['1.4.1'], expected: {}, expect: { image: '1.4.1' } }, /did you mean "expect"/],
  ['an invalid time', { images: ['1.4.1'], at: 'Monday', expect: { image: '1.4.1' } }, /2026-03-01T12:00:00Z/],
  [
    'a policy that is missing in the file',
    { policy: 'shop/api', images: ['1.4.1'], expect: { image: '1.4.1' } },
    /no ImagePolicy shop\/api/,
  ],
];

describe('the command test refuses a file and names the place of', () => {
  for (const [title, one, message] of wrong)
    it(title, async () => {
      await assert.rejects(run(versions, [one]), (error) => error instanceof UsageError && message.test(error.message));
    });
});
