/** Images that are changed together: both or none, whatever order they are pushed in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfSet } from '../../../src/core/model/companions.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { VerificationResult } from '../../../src/core/model/verification.ts';
import { digestOf, policyOf, specOf, web } from '../../core/model/samples.ts';
import { conditionsOf, policyIn, requestAction } from './asked-world.ts';
import { alongside, look, proxy, proxyImage, pushOwn, pushProxy, runs, startAlongside } from './alongside-world.ts';
import { image, setWorkload, startTime } from './world.ts';

const [a, b, c, d] = [digestOf('a'), digestOf('b'), digestOf('c'), digestOf('d')];
const setOf = (own: string, other: string, tag = '1.3.0') => digestOfSet(web, own, [{ image: proxyImage, tag, digest: other }]);
const minute = 60_000;

test('an image and its companion wait for each other in either order, and one patch changes both', async () => {
  for (const order of [
    [pushOwn, pushProxy],
    [pushProxy, pushOwn],
  ] as const) {
    const world = startAlongside();
    const [first, second] = order;
    await first(world, '1.3.0', first === pushOwn ? b : c);
    assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
    await second(world, '1.3.0', second === pushOwn ? b : c);
    assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
    assert.equal(world.requests.filter((request) => request.startsWith('PATCH')).length, 1);
    const { history, latest, waiting, incomplete, targets } = world.statusOf('web');
    assert.deepEqual([latest?.tag, latest?.digest, latest?.companions], ['1.3.0', b, [{ image: proxyImage, tag: '1.3.0', digest: c }]]);
    assert.equal(latest?.setDigest, setOf(b, c));
    assert.deepEqual(
      history?.map(({ container, to, setDigest, alongside }) => [container, to, setDigest, alongside]),
      [['web', `${image}:1.3.0`, setOf(b, c), [{ container: 'proxy', from: `${proxyImage}:1.2.3`, to: `${proxyImage}:1.3.0` }]]],
    );
    assert.deepEqual([waiting, incomplete ?? []], [undefined, []]);
    assert.deepEqual(
      targets?.map(({ container, state, companion }) => [container, state, companion]),
      [
        ['web', 'UpToDate', undefined],
        ['proxy', 'UpToDate', true],
      ],
    );
    assert.equal(world.statusOf('web').running, '1.3.0');
    assert.equal(await look(world), true);
    assert.equal(world.statusOf('web').history?.length, 1, 'nothing is changed again');
  }
});

test('an image waits for its companion, is passed over after the maximum wait, and applied when the companion comes later', async () => {
  const world = startAlongside();
  await pushOwn(world, '1.4.0', d);
  const until = new Date(startTime + 30 * minute).toISOString().replace('.000', '');
  const { waiting, incomplete, conditions } = world.statusOf('web');
  assert.deepEqual([waiting?.tag, waiting?.reason, waiting?.until], ['1.4.0', 'CompanionMissing', until]);
  assert.deepEqual(
    incomplete?.map(({ tag, missing }) => [tag, missing]),
    [['1.4.0', [`${proxyImage}:1.4.0`]]],
  );
  assert.match(conditions?.[0]?.message ?? '', /1\.4\.0 waits for registry\.example\.com\/shop\/proxy:1\.4\.0/);
  // A poll in between does not begin the time anew.
  world.clock.now += 10 * minute;
  await look(world);
  assert.equal(world.statusOf('web').waiting?.until, until);
  // The next one that is complete goes on.
  world.clock.now += 20 * minute;
  world.tags.set('1.3.0', b);
  world.companions.get('shop/proxy')?.set('1.3.0', c);
  await look(world);
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /passed over: 1\.4\.0 has come without .*proxy:1\.4\.0/);
  world.clock.now += 60 * minute;
  await look(world);
  assert.equal(world.statusOf('web').waiting, undefined, 'it does not begin to wait again');
  await pushProxy(world, '1.4.0', a);
  assert.deepEqual(runs(world), ['1.4.0', '1.4.0']);
  assert.deepEqual(world.statusOf('web').incomplete, []);
});

test('a workload whose image and companion have different versions is brought to one version', async () => {
  const world = startAlongside();
  setWorkload(world, { web: `${image}:1.2.3`, proxy: `${proxyImage}:1.0.0` });
  await look(world);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
});

test('a companion that somebody has replaced stays until the next image, and is changed with that', async () => {
  const world = startAlongside();
  await pushOwn(world, '1.3.0', b);
  await pushProxy(world, '1.3.0', c);
  const workload = world.workloads.get('Deployment/shop/web');
  assert.ok(workload);
  const containers = workload.containers.map((one) =>
    one.name === 'proxy' ? { ...one, image: `${proxyImage}:debug`, imageOwner: 'kubectl-set' } : one,
  );
  world.workloads.set('Deployment/shop/web', { ...workload, containers, generation: 9, resourceVersion: '9' });
  await look(world);
  assert.deepEqual(runs(world), ['1.3.0', 'debug']);
  assert.deepEqual(
    world.statusOf('web').targets?.map(({ container, state }) => [container, state]),
    [
      ['web', 'UpToDate'],
      ['proxy', 'Kept'],
    ],
  );
  await pushProxy(world, '1.4.0', a);
  await pushOwn(world, '1.4.0', d);
  assert.deepEqual(runs(world), ['1.4.0', '1.4.0']);
});

test('a companion is not downgraded', async () => {
  const world = startAlongside();
  setWorkload(world, { web: `${image}:1.2.3`, proxy: `${proxyImage}:1.9.0` });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.9.0']);
  assert.match(world.statusOf('web').targets?.[0]?.message ?? '', /proxy runs 1\.9\.0, which is newer than 1\.3\.0/);
});

test('an approval counts only for the digest of the whole set, not for that of the image or of another set', async () => {
  const world = startAlongside({ mode: 'Approval', alongside: { ...alongside, match: 'SameRevision' }, pin: 'Digest' });
  world.revisions.set(b, 'abcdef1').set(c, 'abcdef1').set(d, 'abcdef1').set(a, '0000000').set(digestOf('0'), '0000000');
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  const pending = world.statusOf('web').pendingApproval;
  assert.deepEqual(pending, { tag: '1.3.0', digest: setOf(b, c), images: [`${image}@${b}`, `${proxyImage}@${c}`] });
  await requestAction(world, { approve: `1.3.0@${b}` });
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  // Somebody pushes another companion of the same commit: what was approved is not what would run.
  world.companions.get('shop/proxy')?.set('1.3.0', d);
  await requestAction(world, { approve: `1.3.0@${setOf(b, c)}` });
  await look(world);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.equal(world.statusOf('web').pendingApproval?.digest, setOf(b, d));
  await requestAction(world, { approve: `1.3.0@${setOf(b, d)}` });
  assert.deepEqual(world.images().slice(0, 2), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${d}`]);
});

test('a rejection is of the whole set, and the same image is applied with another companion', async () => {
  const world = startAlongside({ mode: 'Approval', pin: 'Digest' });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  const both = { approve: `1.3.0@${setOf(b, d)}`, reject: `1.3.0@${setOf(b, c)}` };
  await requestAction(world, both);
  assert.deepEqual(
    world.statusOf('web').rejected?.map(({ digest, setDigest, reason }) => [digest, setDigest, reason]),
    [[b, setOf(b, c), 'RejectedByUser']],
  );
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  await pushProxy(world, '1.3.0', d);
  assert.deepEqual(world.images().slice(0, 2), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${d}`]);
});

test('companions of the same commit are found whatever their tags are', async () => {
  const world = startAlongside({ alongside: { ...alongside, match: 'SameRevision' } });
  world.revisions.set(a, '1111111').set(digestOf('0'), '1111111').set(b, 'abcdef1').set(c, 'abcdef1').set(d, '2222222');
  setWorkload(world, { web: `${image}:1.2.3`, proxy: `${proxyImage}:1.2.3` });
  world.companions.get('shop/proxy')?.set('7.1', d);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /proxy of commit abcdef1/);
  await pushProxy(world, '7.2', c);
  assert.deepEqual(runs(world), ['1.3.0', '7.2']);
});

test('an image that does not name its commit has no companions of the same commit', async () => {
  const world = startAlongside({ alongside: { ...alongside, match: 'SameRevision' } });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /does not say from which commit/);
});

test('mutable tags are followed in pairs of one commit', async () => {
  const strategy = strategies.digest({ tag: 'latest' });
  const world = startAlongside({ strategy, pin: 'Digest', alongside: { ...alongside, match: 'SameRevision' } });
  world.revisions.set(a, '1111111').set(digestOf('0'), '1111111').set(b, 'abcdef1').set(c, 'abcdef1');
  setWorkload(world, { web: `${image}:latest@${a}`, proxy: `${proxyImage}:latest@${digestOf('0')}` });
  world.tags.set('latest', a);
  world.companions.get('shop/proxy')?.set('latest', digestOf('0'));
  await pushOwn(world, 'latest', b);
  assert.deepEqual(world.images(), [`${image}:latest@${a}`, `${proxyImage}:latest@${digestOf('0')}`]);
  await pushProxy(world, 'latest', c);
  assert.deepEqual(world.images(), [`${image}:latest@${b}`, `${proxyImage}:latest@${c}`]);
});

test('the minimum age counts for the whole set, and begins anew with another companion', async () => {
  const world = startAlongside({ minAgeMs: 10 * minute, pin: 'Digest' });
  setWorkload(world, { web: `${image}:1.2.3@${a}`, proxy: `${proxyImage}:1.2.3@${digestOf('0')}` });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.equal(world.statusOf('web').waiting?.reason, 'MinAge');
  world.clock.now += 9 * minute;
  await pushProxy(world, '1.3.0', d);
  world.clock.now += 2 * minute;
  await look(world);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  world.clock.now += 9 * minute;
  await look(world);
  assert.deepEqual(world.images().slice(0, 2), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${d}`]);
});

test('a policy is stalled and changes nothing if another policy changes its companion', async () => {
  const other = policyOf({ name: 'proxies', spec: specOf({ repository: proxy }) });
  const world = startAlongside({}, { cluster: { policiesOf: () => [policyOf(), other] } });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.deepEqual(conditionsOf(world), ['Ready=False CompanionShared', 'Stalled=True CompanionShared']);
  assert.match(
    world.statusOf('web').conditions?.[0]?.message ?? '',
    /ImagePolicy shop\/proxies changes proxy of Deployment shop\/web as well/,
  );
});

test('a companion that another policy changes is reported before there is anything to change, until that is over', async () => {
  const other = policyOf({ name: 'proxies', spec: specOf({ repository: proxy }) });
  const others = [other];
  const world = startAlongside({}, { cluster: { policiesOf: () => [policyOf(), ...others] } });
  await look(world);
  assert.deepEqual(conditionsOf(world), ['Ready=False CompanionShared', 'Stalled=True CompanionShared']);
  assert.equal(await requestAction(world, policyIn(world).actions ?? {}), false);
  others.pop();
  assert.equal(await requestAction(world, policyIn(world).actions ?? {}), true, 'it is looked at again when the other one is gone');
  assert.deepEqual(conditionsOf(world), ['Ready=True UpToDate']);
});

test('two policies with the same companion for one workload change nothing, because each would mix the set of the other', async () => {
  const worker = { registry: 'registry.example.com', path: 'shop/worker' };
  const other = policyOf({ name: 'workers', spec: specOf({ alongside, repository: worker }) });
  const world = startAlongside({}, { cluster: { policiesOf: () => [policyOf(), other] } });
  const change = async (version: string) => {
    await pushProxy(world, version, c);
    await pushOwn(world, version, b);
  };
  await change('1.3.0');
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0'], 'no own image of the other policy runs');
  setWorkload(world, { web: `${image}:1.3.0`, proxy: `${proxyImage}:1.3.0`, worker: 'registry.example.com/shop/worker:1.3.0' });
  await change('1.4.0');
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
  assert.deepEqual(conditionsOf(world), ['Ready=False CompanionShared', 'Stalled=True CompanionShared']);
});

test('a companion without the demanded signature keeps the image back as well', async () => {
  const invalid: VerificationResult = { kind: 'invalid', why: 'signed by a stranger' };
  const verified: VerificationResult = { kind: 'verified', by: 'the team' };
  const asked: string[] = [];
  const verify = async ({ digest, source }: { digest: string; source: { path: string } }) => {
    asked.push(source.path);
    return digest === c ? invalid : verified;
  };
  const verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };
  const world = startAlongside({ verification, pin: 'Digest' }, { signatures: { verify } });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.deepEqual(conditionsOf(world), ['Ready=False SignatureInvalid', 'Stalled=True SignatureInvalid']);
  await pushProxy(world, '1.3.0', d);
  assert.deepEqual(world.images().slice(0, 2), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${d}`]);
  assert.deepEqual([...new Set(asked)].toSorted(), ['shop/proxy', 'shop/web']);
});

test('a rollback restores an image and its companion in one patch and one history entry', async () => {
  const world = startAlongside();
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  const [back] = world.statusOf('web').history ?? [];
  assert.deepEqual(
    [back?.trigger, back?.alongside],
    ['Rollback', [{ container: 'proxy', from: `${proxyImage}:1.3.0`, to: `${proxyImage}:1.2.3` }]],
  );
  assert.equal(world.requests.filter((request) => request.startsWith('PATCH')).length, 2);
  await look(world);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
});

test('a rollback to an image whose companion is gone changes nothing', async () => {
  const world = startAlongside();
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  world.companions.get('shop/proxy')?.delete('1.2.3');
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
  assert.equal(world.statusOf('web').rejected, undefined);
  assert.equal(policyIn(world).status.lastHandledRollback, 'previous');
});
