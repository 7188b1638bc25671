/** Checks of every kind and phase under faults, with two processes that are killed at the worst moments, and the real controllers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { createRandom } from '../simulation/random.ts';
import { all } from './base-fleet.ts';
import { drawLines, endlessLines, type Line, type Script } from './check-scripts.ts';
import { checkName, startStormWorld, type StormWorld } from './check-storm-world.ts';
import { deliverUntilAccepted, harborBody } from './world.ts';

/** How many images are pushed for each kind and phase, besides those that get no answer. */
const images = 4;
const first = '1.0.0';
type Check = NonNullable<NonNullable<Spec['rollout']>['checks']>[number];

describe('checks under faults and kills', () => {
  const lines = drawLines(createRandom(41), images);
  const endless = endlessLines();
  const everything = [...lines, ...endless];
  const current = new Map<string, { readonly line: Line; readonly script: Script }>();
  const digests = new Map<string, string>();
  const digestOf = (name: string, tag: string) => digests.get(`${name} ${tag}`) ?? assert.fail(`${name} ${tag} was not pushed`);
  let storm: StormWorld;
  before(async () => {
    storm = await startStormWorld(current);
    const { cluster, namespace } = storm.world;
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'checks' },
      stringData: { key: storm.key },
    });
    await cluster.request('POST', `/apis/batch/v1/namespaces/${namespace}/cronjobs`, {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'migrate', annotations: { 'operator.technomad.dev/check': 'allow' } },
      spec: {
        suspend: true,
        schedule: '0 0 1 1 *',
        jobTemplate: {
          spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'migrate:1' }] } } },
        },
      },
    });
    await all(everything, create);
  });
  after(() => storm?.stop());

  const repository = (name: string) => `${storm.world.quiet.host}/shop/${name}`;
  const push = (name: string, tag: string) =>
    pushImage({ host: storm.world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const questionOf = ({ name, kind, scripts: [one] }: Line): Partial<Check> => {
    const isGone = one?.faults[0] === 'gone';
    const server = isGone ? 'gone' : 'main';
    switch (kind) {
      case 'http':
        return { http: { url: storm.url(isGone), secretRef: { name: 'checks', key: 'key' } } };
      case 'prometheus':
        return { prometheus: { server, query: name.replaceAll('-', '_'), max: 1 } };
      case 'job':
        return { job: { cronJob: 'migrate' } };
    }
  };
  const create = async (line: Line) => {
    const { name, phase, scripts } = line;
    const timeout = scripts[0]?.verdict === 'never' ? '3s' : '20m';
    const check = { name: checkName, phase, every: '1s', timeout, ...questionOf(line) } as Check;
    await push(name, first);
    await storm.world.createDeployment(name, `${repository(name)}:${first}`);
    await storm.world.createPolicy(
      name,
      repository(name),
      { strategy: 'SemVer' },
      { rollout: { onFailure: 'Rollback', timeout: '20m', checks: [check] } },
    );
    await storm.world.waitForFirstLook(name);
  };

  const deleteJob = async (name: string) => {
    const path = `/apis/batch/v1/namespaces/${storm.world.namespace}/jobs`;
    await storm.seen.waitForStatus(name, 'the Job to be in the status', ({ checks: [check] = [] }) => check?.job !== undefined);
    const { items } = await storm.world.cluster.request<{ items: { metadata: { name: string; annotations?: Record<string, string> } }[] }>(
      'GET',
      path,
    );
    const job = items.find(({ metadata }) => metadata.annotations?.['operator.technomad.dev/check-policy'] === name);
    await storm.world.cluster.request('DELETE', `${path}/${job?.metadata.name}`, { propagationPolicy: 'Background' });
  };

  /** Pushes an image, and waits until all that follows from it has happened. */
  const play = async (line: Line, script: Script) => {
    const { name, phase } = line;
    const { tag, verdict } = script;
    current.set(name, { line, script });
    const { digest } = await push(name, tag);
    digests.set(`${name} ${tag}`, digest);
    await deliverUntilAccepted(harborBody(storm.world.quiet.host, `shop/${name}`, [{ tag }]), ...storm.services);
    if (line.kind === 'job' && script.faults.includes('gone')) await deleteJob(name);
    const result = (wanted: string) =>
      storm.seen.waitForStatus(name, `${tag} to be ${wanted}`, ({ history = [] }) =>
        history.some((entry) => entry.tag === tag && entry.result === wanted && entry.trigger !== 'Rollback'),
      );
    if (verdict === 'pass') await result('RolledOut');
    else if (phase !== 'before') await result('RolledBack');
    else
      await storm.seen.waitForStatus(name, `${tag} to be held`, ({ conditions = [] }) =>
        conditions.some(({ type, status, message }) => type === 'Held' && status === 'True' && message.includes(`${tag} is not applied`)),
      );
  };

  it('give one verdict for each image, and no image is applied without a verdict', async () => {
    await all(everything, async (line) => {
      for (const script of line.scripts) await play(line, script);
      // An image that is not to blame would be tried again.
      await storm.world.patchPolicy(line.name, { suspend: true });
    });
    await storm.allUp();
    assert.deepEqual(storm.seen.errors(), []);
  });

  for (const line of everything)
    it(`${line.name}: ${line.scripts.map(({ verdict, faults, kill }) => [verdict, ...faults, ...(kill ? [`kill: ${kill}`] : [])].join(' + ')).join(', ')}`, () => {
      const { name, kind, phase, scripts } = line;
      const expected = [first];
      let good = first;
      for (const { tag, verdict, faults, kill } of scripts) {
        const records = [...storm.seen.checksOf(name, tag)];
        const state = { pass: 'Passed', fail: 'Failed', never: 'TimedOut' }[verdict];
        assert.deepEqual(
          records.map(([, states]) => states.map((one) => one.state)),
          [['Running', state]],
          `${tag}: one question, and one verdict`,
        );
        const [id, states] = records[0] ?? assert.fail();
        const changes = storm.seen.changesOf(name);
        const applied = changes.find((one) => one.tag === tag);
        if (phase === 'before' && applied !== undefined)
          assert.ok((states.at(-1)?.version ?? applied.version) < applied.version, `${tag} was applied before its verdict`);
        if (verdict === 'pass') good = tag;
        if (verdict === 'pass') expected.push(tag);
        else if (phase !== 'before') expected.push(tag, good);
        if (kind === 'http') {
          const events = storm.endpoint.events.filter(({ data }) => data.subject.name === name && data.tag === tag);
          const asked = events.map((event) => [event.id, event.isSigned, event.data.digest].join(' '));
          const expectedEvents = faults.includes('gone') ? [] : [[id, true, digestOf(name, tag)].join(' ')];
          assert.deepEqual([...new Set(asked)], expectedEvents, `${tag}: the same question`);
        }
        if (kind === 'job') assert.equal(storm.seen.jobsOf(name, tag, id).length, 1, `${tag}: one Job`);
        assert.equal(storm.killed.has(`${name} ${tag}`), kill !== undefined, `${tag}: the kill`);
      }
      assert.deepEqual(
        storm.seen.changesOf(name).map(({ tag }) => tag),
        expected,
      );
      const bad = phase === 'before' ? [] : scripts.filter(({ verdict }) => verdict === 'fail');
      assert.deepEqual(
        (storm.seen.statusOf(name).rejected ?? []).map(({ digest }) => digest).toSorted(),
        bad.map(({ tag }) => digestOf(name, tag)).toSorted(),
      );
    });
});
