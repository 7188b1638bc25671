/** What Events of Kubernetes say about images that are changed together: all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfSet } from '../../../src/core/model/companions.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { requestAction } from './asked-world.ts';
import { proxyImage, pushOwn, pushProxy, startAlongside, type AlongsideWorld } from './alongside-world.ts';
import { v1Columns, valueOf } from '../../../src/service/resources/columns.ts';
import { image } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];
const said = ({ events }: AlongsideWorld, reason: string) =>
  events.filter((event) => event.reason === reason).map(({ regarding, message }) => `${regarding.kind}: ${message}`);

test('the Events of a change and its rollback name every container of the set', async () => {
  const world = startAlongside();
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  const moves = (from: string, to: string) =>
    `web from ${image}:${from} to ${image}:${to}, proxy from ${proxyImage}:${from} to ${proxyImage}:${to}`;
  const forth = moves('1.2.3', '1.3.0');
  assert.deepEqual(said(world, 'Updated'), [`Deployment: ${forth}, selected by ImagePolicy shop/web`]);
  await requestAction(world, { rollbackTo: 'previous' });
  assert.ok(said(world, 'Updated').includes(`Deployment: ${moves('1.3.0', '1.2.3')}, selected by ImagePolicy shop/web`));
});

test('the Event about a missing approval or companion names the companion', async () => {
  const world = startAlongside({ mode: 'Approval' });
  await pushOwn(world, '1.3.0', b);
  assert.match(said(world, 'CompanionMissing').join(), /1\.3\.0 waits for registry\.example\.com\/shop\/proxy:1\.3\.0, which/);
  await pushProxy(world, '1.3.0', c);
  const set = digestOfSet(web, b, [{ image: proxyImage, tag: '1.3.0', digest: c }]);
  const [asked = ''] = said(world, 'ApprovalRequired');
  assert.ok(asked.startsWith(`ImagePolicy: 1.3.0 with ${proxyImage}:1.3.0 waits for approval: `), asked);
  assert.ok(asked.endsWith(`1.3.0@${set}`), asked);
});

test('kubectl get shows that a set waits and, with -o wide, for what', async () => {
  const world = startAlongside();
  await pushOwn(world, '1.3.0', b);
  const object = { status: world.statusOf('web') };
  const cells = Object.fromEntries(v1Columns.map((column) => [column.name, valueOf(object, column)]));
  assert.deepEqual([cells['Running'], cells['Latest'], cells['Reason']], ['1.2.3', '1.3.0', 'CompanionMissing']);
  assert.match(String(cells['Message']), /1\.3\.0 waits for registry\.example\.com\/shop\/proxy:1\.3\.0, which the registry does not hold/);
});
