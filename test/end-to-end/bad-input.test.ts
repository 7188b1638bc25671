import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, assertPatchedTimes, secret, startWorld, type Service, type World } from './world.ts';

describe('bad input', () => {
  let world: World;
  let service: Service;

  before(async () => {
    world = await startWorld();
    service = await world.start();
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const repositoryOf = (name: string) => `shop/${name}`;
  const image = (name: string, tag: string) => `${world.registry.host}/${repositoryOf(name)}:${tag}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: world.registry.host, repository: repositoryOf(name), tag, content: `${name} ${tag}` });

  for (const [name, tagPolicy, message] of [
    ['broken-range', { strategy: 'SemVer', pattern: '>=1.x.y <' }, /spec\.select\.semver\.range: .*range/i],
    ['broken-regex', { strategy: 'Regex', pattern: 'v(1' }, /spec\.tags\.allow: .*RE2/],
    [
      'broken-extract',
      { strategy: 'Regex', pattern: 'v(1)', extract: '$version' },
      /spec\.tags\.extract: "\$version" is not a group of allow/,
    ],
  ] as const) {
    it(`stalls a policy with a ${name}, shows the parser's message, and continues when it is fixed`, async () => {
      await push(name, '1.0.0');
      await world.createDeployment(name, image(name, '1.0.0'));
      await world.createPolicy(name, `${world.registry.host}/${repositoryOf(name)}`, tagPolicy);
      const stalled = await world.waitForCondition(name, 'Stalled', 'InvalidTagPolicy');
      assert.equal(stalled.status, 'True');
      assert.match(stalled.message, message);
      assert.equal((await world.condition(name, 'Ready'))?.status, 'False');

      await push(name, '1.0.1');
      await world.patchPolicy(name, { select: { semver: { range: '1.x' }, alphabetical: null }, tags: null });
      await world.waitForImage(name, image(name, '1.0.1'));
      await world.waitForCondition(name, 'Ready', 'UpToDate');
      assert.equal(await world.condition(name, 'Stalled'), undefined);
    });
  }

  it('waits for a target that does not exist yet, and recovers by itself', async () => {
    await push('late', '1.0.0');
    await push('late', '1.0.1');
    await world.createPolicy('late', `${world.registry.host}/${repositoryOf('late')}`, { strategy: 'SemVer' });
    const stalled = await world.waitForCondition('late', 'Ready', 'TargetNotFound');
    assert.match(stalled.message, /Deployment .*\/late does not exist/);
    await world.createDeployment('late', image('late', '1.0.0'));
    assertPatchedTimes(await world.waitForImage('late', image('late', '1.0.1')), 1);
    await world.waitForCondition('late', 'Ready', 'UpToDate');
  });

  it('reports that no container runs the repository, and recovers by itself', async () => {
    await push('other', '1.0.0');
    await world.createDeployment('other', 'docker.io/library/nginx:1.27');
    await world.createPolicy('other', `${world.registry.host}/${repositoryOf('other')}`, { strategy: 'SemVer' });
    const stalled = await world.waitForCondition('other', 'Ready', 'ContainerNotFound');
    assert.match(stalled.message, /has no container that runs .*shop\/other/);
    await waitFor('one Event about it', async () => {
      const events = await world.waitForEvents('ImagePolicy', 'other');
      // Where the policy was seen before its Deployment, that was told first.
      const reportedReasons = events.filter(({ reason }) => reason !== 'TargetNotFound').map(({ type, reason }) => `${type} ${reason}`);
      assert.deepEqual([...new Set(reportedReasons)], ['Warning ContainerNotFound']);
      return true;
    });

    await push('other', '1.0.1');
    await world.setImage('other', image('other', '1.0.0'));
    await world.waitForImage('other', image('other', '1.0.1'));
  });

  it('reports a kind of target that cannot be updated', async () => {
    await world.createPolicy('job', `${world.registry.host}/${repositoryOf('late')}`, { strategy: 'SemVer' }, { kind: 'Job' });
    const stalled = await world.waitForCondition('job', 'Stalled', 'UnsupportedTargetKind');
    assert.match(stalled.message, /Job.*Deployment/);
  });

  it('reports that the repository holds nothing that the policy selects', async () => {
    await push('branches', 'main');
    await world.createDeployment('branches', image('branches', 'main'));
    await world.createPolicy('branches', `${world.registry.host}/${repositoryOf('branches')}`, { strategy: 'SemVer' });
    const stalled = await world.waitForCondition('branches', 'Stalled', 'NoMatchingTag');
    assert.match(stalled.message, /none of the 1 tags .* is the highest stable version/);
    await push('branches', '0.1.0');
    await world.waitForImage('branches', image('branches', '0.1.0'));
  });

  for (const [what, body] of [
    ['no JSON', 'push 1.0'],
    ['nothing', ''],
    ['deep JSON', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['null', 'null'],
    ['a list', '[1, 2]'],
    ['another shape', '{"events": {"action": "push"}}'],
    ['events of another shape', '{"events": [null, 1, "push", [], {"action": {}, "target": 5}]}'],
    ['a polluting name', '{"events": [{"__proto__": {"action": "push"}, "constructor": {"prototype": {"target": 1}}}]}'],
  ] as const) {
    it(`answers 200 to an authentic body that is ${what}, and continues`, async () => {
      const response = await fetch(`${service.publicUrl}/webhooks/registry`, { method: 'POST', headers: { Authorization: secret }, body });
      const answer = (await response.json()) as { accepted: unknown[]; ignored: { reason: string }[] };
      assert.equal(response.status, 200);
      assert.deepEqual(answer.accepted, []);
      assert.ok(answer.ignored.length > 0);
    });
  }

  it('refuses a huge body with 413', async () => {
    const response = await fetch(`${service.publicUrl}/webhooks/registry`, {
      method: 'POST',
      headers: { Authorization: secret },
      body: 'x'.repeat(1_048_577),
    });
    assert.equal(response.status, 413);
    await waitFor('readiness', async () => (await fetch(`${service.operationsUrl}/readyz`)).ok);
  });
});
