import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { runCommand } from './run-command.ts';

describe('image-watcher generate-password', () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
  });
  after(() => cluster.stop());

  const generate = (secret: string, ...more: string[]) =>
    runCommand('generate-password', ['--secret', `default/${secret}`, '--kubeconfig', cluster.kubeconfigPath, ...more]);
  const read = async (name: string) => {
    const { data } = await cluster.request<{ data: Record<string, string> }>('GET', `/api/v1/namespaces/default/secrets/${name}`);
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  };

  it('generates one password, however many commands run simultaneously', async () => {
    const ran = await Promise.all(Array.from({ length: 5 }, () => generate('redis')));
    assert.deepEqual(
      ran.map(({ code, err }) => [code, err]),
      Array.from({ length: 5 }, () => [0, '']),
    );
    assert.equal(ran.filter(({ out }) => out.endsWith('created\n')).length, 1);
    const { password, ...rest } = await read('redis');
    assert.match(password ?? '', /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {});
    assert.match((await generate('redis')).out, /unchanged/);
    assert.deepEqual(await read('redis'), { password });
  });

  it('generates another password for another Secret, under the requested key', async () => {
    await generate('other', '--key', 'redis-password');
    const [{ 'redis-password': other }, { password }] = await Promise.all([read('other'), read('redis')]);
    assert.ok(other && other !== password);
  });

  it('does not change a Secret that it has not created', async () => {
    await cluster.request('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'mine' }, stringData: { user: 'ann' } });
    const { code, err } = await generate('mine');
    assert.deepEqual([code, err], [1, 'Secret default/mine: it exists and has no password: add one, or delete the Secret\n']);
    assert.deepEqual(await read('mine'), { user: 'ann' });
  });

  it('reports what is wrong', async () => {
    await assert.rejects(runCommand('generate-password', []), UsageError);
    await assert.rejects(runCommand('generate-password', ['--secret', 'redis']), UsageError);
    const { code, err } = await runCommand('generate-password', ['--secret', 'nowhere/redis', '--kubeconfig', cluster.kubeconfigPath]);
    assert.equal(code, 1);
    assert.match(err, /^Secret nowhere\/redis: .*not found/);
  });
});
