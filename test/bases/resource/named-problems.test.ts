/**
 * A wrong BaseImagePolicy at a real API server: its answer names the field that is missing. The API server checks no rules then, and says so; the program names
 * what they would refuse as well.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { baseSpecSchema } from '../../../src/bases/resource/schema.ts';
import { specProblems } from '../../../src/service/resources/validation/spec-problems.ts';
import { installPlainCrds, plainPath } from '../../service/resources/install-crd.ts';

let cluster: ControlPlane;
let path = '';
before(async () => {
  cluster = await borrowControlPlane();
  await installPlainCrds(cluster);
  path = plainPath('BaseImagePolicy', await cluster.namespace('named'));
});
after(() => cluster.stop());

const image = 'harbor.example.com/library/base-java';
const select = { semver: { range: '21.x' } };
const secretRef = { name: 'ci', key: 'token' };
const github = { repository: '$source', event: 'base-image', secretRef };
const key = { secretRef: { name: 'base', key: 'cosign.pub' } };

const rows: Readonly<Record<string, readonly [spec: object, paths: readonly string[]]>> = {
  'no image': [{ select }, ['spec.image']],
  'no image, with actions': [{ select, onNewBase: [{ rebase: {} }, { report: {} }] }, ['spec.image']],
  'no select': [{ image }, ['spec.select']],
  'neither image nor select': [{}, ['spec.image', 'spec.select']],
  'a mutable tag without its name': [{ image, select: { digest: {} } }, ['spec.select.digest.tag']],
  'a trigger without images': [{ image, select, onNewBase: [{ trigger: { github } }] }, ['spec.onNewBase[0].trigger.images']],
  'a trigger without a Secret': [
    { image, select, onNewBase: [{ trigger: { images: ['*'], github: { repository: '$source', event: 'base-image' } } }] },
    ['spec.onNewBase[0].trigger.github.secretRef'],
  ],
  'a push Secret without a name': [
    { image, select, onNewBase: [{ rebase: { pushSecret: {} } }] },
    ['spec.onNewBase[0].rebase.pushSecret.name'],
  ],
  'a signature without a key': [
    { image, select, verify: { cosign: { keys: [key] } }, onNewBase: [{ rebase: { sign: {} } }] },
    ['spec.onNewBase[0].rebase.sign.keyRef'],
  ],
  'a key without a Secret': [{ image, select, verify: { cosign: { keys: [{}] } } }, ['spec.verify.cosign.keys[0].secretRef']],
  'a restart without images': [{ image, select, onNewBase: [{ restart: {} }] }, ['spec.onNewBase[0].restart.images']],
  'a window without its end': [{ image, select, windows: [{ from: '09:00' }] }, ['spec.windows[0].to']],
  'an interval of ten seconds': [{ image, select, poll: { interval: '10s' } }, ['spec.poll']],
  'an interval of a minute less a second': [{ image, select, poll: { interval: '59s' } }, ['spec.poll']],
};

/** The paths that `lint` and the condition of a policy name. */
const problemsOf = (spec: object) =>
  specProblems(baseSpecSchema, spec, { aliases: new Map(), customTargets: [], namespace: 'named' })
    .map(({ path }) => path)
    .toSorted();

for (const [name, [spec, paths]] of Object.entries(rows))
  test(`the API server and the program refuse a policy of a base with the same paths: ${name}`, async () => {
    const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'BaseImagePolicy', metadata: { name: 'java' }, spec };
    const answer = await cluster.request('POST', `${path}?dryRun=All`, policy).catch((error: unknown) => error);
    assert.ok(answer instanceof Error, 'it is accepted');
    const { details } = JSON.parse((answer as Error & { body: string }).body) as {
      details?: { causes?: { field: string; message: string }[] };
    };
    const own = (details?.causes ?? []).filter(({ message }) => !/some validation rules were not checked/.test(message));
    assert.deepEqual(own.map(({ field }) => field).toSorted(), paths);
    assert.ok(
      own.every(({ message }) => paths[0] === 'spec.poll' || message === 'Required value'),
      JSON.stringify(own),
    );
    assert.deepEqual(problemsOf(spec), paths);
  });

test('the program reports also the problems that the API server does not check because of a missing field', async () => {
  const spec = { select: {}, poll: { interval: '10s' }, onNewBase: [{}] };
  const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'BaseImagePolicy', metadata: { name: 'java' }, spec };
  await assert.rejects(
    cluster.request('POST', `${path}?dryRun=All`, policy),
    /spec\.image: Required value.*some validation rules were not checked/,
  );
  assert.deepEqual(problemsOf(spec), ['spec.image', 'spec.onNewBase[0]', 'spec.poll', 'spec.select']);
});

test('a policy of a base with an interval of a minute is accepted', async () => {
  const spec = { image, select, poll: { interval: '1m' }, onNewBase: [{ rebase: {} }] };
  const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'BaseImagePolicy', metadata: { name: 'java' }, spec };
  await cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, policy);
  assert.deepEqual(problemsOf(spec), []);
});
