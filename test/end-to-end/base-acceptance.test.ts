/**
 * Nobody is forgotten, and nobody is moved to the wrong base: applications on five bases in two registries, made, copied and unpacked with other tools than those
 * of the program.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { plain } from '../acceptance/applications.ts';
import type { Version } from '../acceptance/bases.ts';
import { assertBuiltAnew } from '../acceptance/built-anew.ts';
import * as fleet from '../acceptance/fleet.ts';
import { type Application, type Base, follows, imageOf } from '../acceptance/fleet.ts';
import { writeImage } from '../acceptance/oci-layout.ts';
import { type Dependent, type Platform, readyOf, startPlatform } from '../acceptance/platform.ts';
import { findCrane, lacksCrane, lacksSkopeo } from '../harness/binaries.ts';
import { runCommand } from '../harness/run-command.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all } from './base-fleet.ts';

const [noSkopeo, noCrane] = [await lacksSkopeo(), await lacksCrane()];
const inJavasRegistry = ['java', 'framework'] as const;
const inOther = ['nginx', 'node', 'python'] as const;

describe('applications on five bases', { skip: noSkopeo ?? false }, () => {
  let platform: Platform;
  let javas: fleet.Javas;
  let nginx: Awaited<ReturnType<typeof fleet.pushMany>>;
  let python: Awaited<ReturnType<typeof fleet.pushMovedPython>>;
  let node: Version;
  /** The second version of Java. */
  let next: Version;
  const applications: Application[] = [];
  const on = (...bases: readonly Base[]) => applications.filter(({ base }) => bases.includes(base));
  /** The digests of the bases that an image is built on: its own, and the base of that one. */
  const builtOn = new Map<string, readonly string[]>();

  before(async () => {
    platform = await startPlatform();
    const { announcing, quiet } = platform.hosts;
    [javas, nginx, python] = await Promise.all([fleet.pushJavas(announcing), fleet.pushMany(quiet), fleet.pushMovedPython(quiet)]);
    applications.push(...fleet.javaApplications(javas), ...nginx.applications, ...python.applications);
    await all(applications, add);
    await platform.announce();
  });
  after(() => platform?.stop());

  async function add(application: Application): Promise<void> {
    await fleet.pushApplication(application);
    const below = application.base === 'framework' ? [javas.current.layout.digest] : [];
    builtOn.set(imageOf(application), [application.on.layout.digest, ...below]);
    await platform.deploy(application);
  }

  /** What the policy of a base is to say of an application: first, or after all that follow their bases were brought to them. */
  function stateOf(policy: Base, application: Application, isBrought: boolean): Application['state'] {
    const { base, state } = application;
    const isConcerned = base === policy || (base === 'framework' && policy === 'java');
    if (!isConcerned) return 'Unrelated';
    return isBrought && follows(application) ? 'Current' : state;
  }

  function countsOf(policy: Base, isBrought: boolean, among: readonly Application[]) {
    const count = (state: Application['state']) => among.filter((one) => stateOf(policy, one, isBrought) === state).length;
    const [current, behind, otherLine] = [count('Current'), count('Behind'), count('OtherLine')];
    return { total: among.length, current, behind, otherLine, unknown: count('Unknown'), unrelated: count('Unrelated') };
  }

  const counted = ({ images }: BaseStatus) => {
    const { total, current, behind, otherLine, unknown, unrelated } = images ?? assert.fail('nothing is counted');
    return { total, current, behind, otherLine, unknown, unrelated };
  };

  const isSettled = (status: BaseStatus) => readyOf(status)?.status === 'True' && status.versions?.unread === 0;
  const isOn = ({ latest }: BaseStatus, { layout }: Version) => latest?.digest === layout.digest;

  /** Waits until the list of dependents in the API, which may be some seconds old, says this of each application. */
  const assertListed = (
    policy: Base,
    among: readonly Application[],
    read: (one: Dependent) => string,
    expect: (one: Application) => string,
  ) =>
    waitFor(`the dependents of ${policy}`, async () => {
      const dependents = await platform.dependents(policy);
      const said = among.map(({ name }) => `${name}: ${read(dependents.get(name) ?? { image: '', state: 'Unrelated' })}`);
      assert.deepEqual(
        said,
        among.map((one) => `${one.name}: ${expect(one)}`),
      );
      return true;
    });

  const onBase = (state: string, base = '', by = '') => `${state} on ${base.split('@')[0]} by ${by}`;

  /** Waits until a policy has compared its applications with all versions; compares what it says, in its status and in the API, with what they are. */
  async function assertSays(policy: Base, among: readonly Application[] = applications): Promise<BaseStatus> {
    const counts = countsOf(policy, false, among);
    const isCompared = (found: BaseStatus) => isSettled(found) && found.images?.total === counts.total;
    const status = await platform.waitForStatus(policy, 'all are compared', isCompared);
    assert.deepEqual(counted(status), counts);
    const isUnproven = (state: string) => state === 'Unknown' || state === 'Unrelated';
    await assertListed(
      policy,
      among,
      ({ state, base, recognizedBy }) => (isUnproven(state) ? state : onBase(state, base, recognizedBy)),
      (one) => {
        const state = stateOf(policy, one, false);
        if (isUnproven(state)) return state;
        return one.base === policy ? onBase(state, one.on.tag, one.by) : onBase(state, javas.current.tag, 'Layers');
      },
    );
    return status;
  }

  /** Waits until all that follow a base are on its version, this one if it is given; compares what the policy says of all others with what they still are. */
  async function assertBrought(policy: Base, version?: Version, among: readonly Application[] = applications): Promise<BaseStatus> {
    const counts = countsOf(policy, true, among);
    const isBrought = (found: BaseStatus) =>
      (version === undefined || isOn(found, version)) && isSettled(found) && found.images?.behind === counts.behind;
    const status = await platform.waitForStatus(policy, 'all that follow it are on it', isBrought);
    assert.deepEqual(counted(status), counts);
    await assertListed(
      policy,
      among,
      ({ state, reason }) => reason ?? state,
      (one) => (one.base === policy ? one.refused : undefined) ?? stateOf(policy, one, true),
    );
    return status;
  }

  /** Compares what these run with builds on the new base, and remembers what they are built on. */
  async function assertRunsAsBuilt(which: readonly Application[], base: Version, below: readonly string[] = []): Promise<void> {
    const running = await platform.running();
    await all(which, async (application) => {
      const image = running.get(application.name) ?? '';
      assert.match(image.replace(imageOf(application), ''), /^-base\.\d{8}(?:\.\d+)?$/);
      await assertBuiltAnew(image, application, base);
      builtOn.set(image, [base.layout.digest, ...below]);
    });
  }

  /** Asserts that the framework was brought to a version of Java, and returns what it is now. */
  async function assertFramework({ name, tag, image, layout }: Version): Promise<Version> {
    const { latest } = await assertBrought('framework', undefined, on('framework'));
    assert.match(latest?.tag ?? '', /^3\.1\.0-base\.\d{8}(?:\.\d+)?$/);
    const framework = javas.framework.name;
    const build: fleet.Application['build'] = (_name, java) => ({ image: fleet.frameworkOn(java.image) });
    await assertBuiltAnew(`${framework}:${latest?.tag}`, { name: 'framework', build }, { name, tag, image, layout });
    const anew = fleet.frameworkOn(image);
    return { name: framework, tag: latest?.tag ?? '', image: anew, layout: { ...writeImage(anew), digest: latest?.digest ?? '' } };
  }

  async function assertJavasRun(java: Version): Promise<void> {
    assert.equal(readyOf(await assertBrought('java', java))?.reason, 'ImagesUnknown');
    const framework = await assertFramework(java);
    await assertRunsAsBuilt(on('java').filter(follows), java);
    await assertRunsAsBuilt(on('framework'), framework, [java.layout.digest]);
  }

  it('are recognized by every kind of evidence, compared with all of 130 versions, and counted', async () => {
    await platform.watch('java', { select: { semver: { range: '21.x' } } });
    await platform.watch('framework', { select: { semver: {} }, workloads: [{ selector: { matchLabels: { base: 'framework' } } }] });
    await platform.watch('nginx', { select: { semver: {} } });
    assert.equal(readyOf(await assertSays('java'))?.reason, 'ImagesBehind');
    assert.equal(readyOf(await assertSays('framework', on('framework')))?.reason, 'UpToDate');
    assert.deepEqual((await assertSays('nginx')).versions, { known: 130, unread: 0 });
  });

  it('are not forgotten when a mutable tag is pushed ten times more', async () => {
    for (let push = 0; push <= 10; push++) {
      node = await fleet.pushNode(platform.hosts.quiet, push);
      if (push === 0) await platform.watch('node', { select: { digest: { tag: '20' } } });
      else await platform.deliver('node', '20');
      await platform.waitForStatus('node', `push ${push} is selected`, (found) => isOn(found, node) && isSettled(found));
      if (push % 3 !== 0 && push !== 10) continue;
      const state = push === 10 ? 'Current' : 'Behind';
      const application: Application = { name: `node-${push}`, base: 'node', on: node, build: plain(), state, by: 'Layers' };
      await add(application);
      applications.push(application);
      const isCounted = ({ images }: BaseStatus) => images?.total === applications.length && images.current === 1;
      await platform.waitForStatus('node', `what runs on push ${push} is counted`, isCounted);
    }
    assert.deepEqual((await assertSays('node')).versions, { known: 11, unread: 0 });
  });

  it('are not forgotten by a policy that comes after the tag has moved', async () => {
    await platform.watch('python', { select: { digest: { tag: '3' } } });
    assert.equal(readyOf(await assertSays('python'))?.reason, 'ImagesBehind');
  });

  it('are behind when their base is pushed, except those on other lines, and do not change while the policies only report', async () => {
    const former = await platform.running();
    next = await fleet.pushNextJavas(javas);
    const status = await platform.waitForStatus('java', 'all are compared', (found) => isOn(found, next) && isSettled(found));
    const { current, behind, ...others } = countsOf('java', false, applications);
    assert.deepEqual(counted(status), { ...others, current: 0, behind: current + behind });
    assert.deepEqual(await platform.running(), former);
  });

  it('are rebased along all chains, and have file by file what a build on the new base would have', async () => {
    const waves = { maxParallel: 10, pause: '1s' };
    for (const base of inJavasRegistry) await platform.change(base, { onNewBase: [{ rebase: {} }], waves });
    const rebase = { images: ['*'], pushSecret: { name: 'rebaser' } };
    for (const base of inOther) await platform.change(base, { onNewBase: [{ rebase }], waves });
    await assertJavasRun(next);
    const others = { nginx: [nginx.newest, 'UpToDate'], node: [node, 'UpToDate'], python: [python.now, 'ImagesBehind'] } as const;
    for (const base of inOther) {
      const [version, reason] = others[base];
      assert.equal(readyOf(await assertBrought(base, version))?.reason, reason);
      await assertRunsAsBuilt(
        on(base).filter((one) => follows(one) && one.state === 'Behind'),
        version,
      );
    }
  });

  it('are rebased onto the next base, although the service is killed twice during this', async () => {
    const before = platform.seen.changes.length;
    const java = await fleet.pushPatchedJava(javas);
    for (const count of [1, 12]) {
      await waitFor(`${count} workloads to be changed`, () => platform.seen.changes.length >= before + count, { intervalMs: 10 });
      await platform.killService();
    }
    await assertJavasRun(java);
  });

  it('keep their image if on another line, unknown, unrelated or refused, and else were changed once for each base', async () => {
    assert.deepEqual(platform.seen.errors, []);
    const running = await platform.running();
    for (const application of applications) {
      const [created, ...changes] = platform.seen.changes.filter(({ name }) => name === application.name).map(({ image }) => image);
      assert.equal(created, imageOf(application));
      const isJavas = inJavasRegistry.some((base) => base === application.base);
      const times = !follows(application) ? 0 : isJavas ? 2 : application.state === 'Behind' ? 1 : 0;
      assert.equal(changes.length, times, `${application.name}: ${changes.join()}`);
      assert.equal(running.get(application.name), changes.at(-1) ?? created);
    }
  });

  it('run images that crane finds valid, with all layers and each platform', { skip: noCrane ?? false }, async () => {
    const crane = await findCrane();
    const running = await platform.running();
    // It reads every layer as gzip.
    const isGzip = ({ build, name, on }: Application) => build(name, on).image.layers.every(({ compression }) => compression !== 'zstd');
    const rebased = applications.filter((one) => running.get(one.name) !== imageOf(one) && isGzip(one));
    assert.ok(rebased.length > 20, `${rebased.length} are rebased`);
    await all(rebased, async ({ name, on, build }) => {
      for (const of of build(name, on).image.platforms)
        await runCommand(crane, ['validate', '--insecure', '--platform', of, '--remote', running.get(name) ?? '']);
    });
  });

  it('are reported as UpToDate only when all of them run the new base', () => {
    const upToDate = platform.seen.said.filter(({ status }) => readyOf(status)?.reason === 'UpToDate');
    // Of Java and Python, some are never known or never brought to it.
    assert.deepEqual([...new Set(upToDate.map(({ name }) => name))].toSorted(), ['framework', 'nginx', 'node']);
    for (const { name, version, status } of upToDate) {
      const then = new Map(platform.seen.changes.filter((change) => change.version < version).map((change) => [change.name, change.image]));
      const late = on(name as Base).filter((application) => {
        const image = then.get(application.name);
        return image !== undefined && builtOn.get(image)?.includes(status.latest?.digest ?? '') !== true;
      });
      assert.deepEqual(
        late.map((one) => `${one.name} runs ${then.get(one.name)}`),
        [],
        `${name} said that ${status.latest?.tag} is everywhere`,
      );
    }
  });
});
