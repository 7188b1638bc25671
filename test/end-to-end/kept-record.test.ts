/** The record of activity in a folder that two replicas share: what is written, what happens while the folder is away, and who is killed. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { examine, waitForLines } from './doctor-report.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

interface Kept {
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly tag?: string; readonly push?: { readonly tag: string; readonly outcome: string } };
}

const folder = tempFolder('kept-record');
let world: World;
let services: Service[];
before(async () => {
  world = await startWorld();
  const config = { record: { folder, interval: '1s' } };
  services = [await world.start({ config }), await world.start({ config })];
  const { host } = world.quiet;
  await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
  await world.createDeployment('web', `${host}/shop/web:1.0.0`);
  await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
  await world.waitForFirstLook('web');
});
after(() => world.stop());

const lines = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as Kept);
const push = async (tag: string, through: Service) => {
  const { host } = world.quiet;
  await pushImage({ host, repository: 'shop/web', tag, content: tag });
  await deliver(through, harborBody(host, 'shop/web', [{ tag }]));
};
/** Waits until the record has the push with its result, and the change, each once or more. */
const waitForTag = (tag: string) =>
  waitFor(`${tag} in the record`, () => {
    const found = lines();
    const isDone = found.some(({ data }) => data.push?.tag === tag && data.push.outcome === 'updated');
    return isDone && found.some(({ type, data }) => type.endsWith('.change') && data.tag === tag);
  });
const metric = async (service: Service, name: string) => {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

test('the record keeps each push and each change, although its folder is missing for a time and a replica is killed', async () => {
  const [first, second] = services as [Service, Service];
  await push('1.1.0', first);
  await waitForTag('1.1.0');

  renameSync(folder, `${folder}-away`);
  await push('1.2.0', second);
  await waitForLines(() => examine(second, world.kubeconfig), [['record/written', 'warning', /ENOENT.*entries wait/]]);
  await waitFor('the metric', async () => (await metric(second, 'image_watcher_record_waiting')) > 0);
  assert.equal((await fetch(`${second.operationsUrl}/readyz`)).status, 200);
  await first.kill9();
  renameSync(`${folder}-away`, folder);
  await waitForTag('1.2.0');
  await first.restart();
  await push('1.3.0', first);
  await waitForTag('1.3.0');
  await waitFor('nothing to wait', async () => (await metric(second, 'image_watcher_record_waiting')) === 0);

  const changes = lines().flatMap(({ type, data }) => (type.endsWith('.change') ? [data.tag] : []));
  assert.deepEqual(changes, ['1.1.0', '1.2.0', '1.3.0']);
  const verified = await runCommand('history', ['verify', '--file', folder, '-o', 'json']);
  assert.deepEqual([verified.code, (JSON.parse(verified.out) as { lines: number }).lines], [0, lines().length]);
  const { out } = await runCommand('history', ['--at', new Date().toISOString(), '-A', '--file', folder]);
  assert.match(out, new RegExp(`^${world.namespace}/web {2}1\\.3\\.0 {2}since .* Deployment ${world.namespace}/web`));
});
