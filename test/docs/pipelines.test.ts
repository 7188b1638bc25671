/** The actions for GitHub and the job for GitLab: their scripts run with the real program, at a receiver that the test plays. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { mainProgram } from '../harness/program.ts';
import { findOnPath } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { fencesOf, pages, root } from './markdown.ts';

const skip = findOnPath(['bash', 'tar', 'curl', 'gzip']) === undefined ? 'needs bash, tar, gzip and curl' : false;
const run = promisify(execFile);
const actions = join(root, '.github/actions');

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly required?: boolean; readonly default?: string }>>;
  readonly runs: {
    readonly steps: readonly [{ readonly shell: string; readonly env: Readonly<Record<string, string>>; readonly run: string }];
  };
}

const readAction = (name: string) => parse(readFileSync(join(actions, name, 'action.yml'), 'utf8')) as Action;

describe('pipelines', { skip }, () => {
  let server: Server;
  let origin: string;
  let state: string;
  let requests: string[];
  let folder: string;

  before(async () => {
    folder = tempFolder('pipelines');
    const program = join(folder, 'bin/image-watcher');
    mkdirSync(join(folder, 'bin'));
    const main = await mainProgram();
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
    chmodSync(program, 0o755);
    const tarball = (await run('tar', ['-cz', '-C', join(folder, 'bin'), 'image-watcher'], { encoding: 'buffer' })).stdout;
    server = createServer((request, response) => {
      void (async () => {
        requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''} ${await text(request)}`);
        if (request.url?.endsWith('.tar.gz') === true) return response.end(tarball);
        const policies = [{ policy: 'shop/web', state, isOver: true, reason: 'RolledOut' }];
        const accepted = { accepted: [{ id: 'event', delivery: 'event-mac' }], ignored: [] };
        return response.end(JSON.stringify(request.method === 'POST' ? accepted : { image: 'x', state, isOver: true, policies }));
      })();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());
  beforeEach(() => {
    state = 'rolledOut';
    requests = [];
  });

  const withProgram = () => `${join(folder, 'bin')}:${process.env['PATH']}`;
  const shell = async (script: string, env: Readonly<Record<string, string>>) => {
    try {
      const { stdout } = await run('bash', ['-eo', 'pipefail', '-c', script], { env, cwd: folder });
      return { code: 0, out: stdout };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, out: stdout + stderr };
    }
  };
  /** Runs the step of an action with these inputs, as a runner does. */
  const act = (
    name: string,
    given: Readonly<Record<string, string>>,
    path = withProgram(),
    more: Readonly<Record<string, string>> = {},
  ) => {
    const { inputs, runs } = readAction(name);
    const [{ env, run: script }] = runs.steps;
    for (const key of Object.keys(given)) assert.ok(key in inputs, key);
    const values = Object.entries(env).map(([variable, expression]) => {
      const [, input = ''] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression) ?? [];
      const found = inputs[input] ?? assert.fail(expression);
      return [variable, given[input] ?? found.default ?? assert.fail(`${input} has to be given`)] as const;
    });
    return shell(script, { ...Object.fromEntries(values), PATH: path, HOME: folder, GITHUB_ACTION_PATH: join(actions, name), ...more });
  };
  // The program refuses to send a secret by http, so the script asks it here to do that.
  const insecurely = (script: string) => script.replaceAll('--wait', '--wait --insecure');

  it('every input of an action has a description', () => {
    for (const name of ['lint', 'test', 'announce'])
      for (const [input, { description }] of Object.entries(readAction(name).inputs))
        assert.ok(description.length > 10, `${name}: ${input}`);
  });

  it('lint fails for a wrong policy, and names the field', async () => {
    writeFileSync(join(folder, 'good.yaml'), policy({}));
    writeFileSync(join(folder, 'bad.yaml'), policy({ minAge: 'soon' }));
    assert.equal((await act('lint', { paths: 'good.yaml' })).code, 0);
    const { code, out } = await act('lint', { paths: 'good.yaml bad.yaml' });
    assert.deepEqual([code, /bad\.yaml:.*minAge/.test(out)], [1, true], out);
  });

  it('test fails for a case that is not as expected, and writes the report', async () => {
    writeFileSync(join(folder, 'good.yaml'), policy({}));
    const cases = [{ name: 'one', policy: 'web', images: ['1.4.1'], at: '2026-03-02T10:00:00Z', expect: { image: '1.4.2' } }];
    writeFileSync(join(folder, 'cases.yaml'), JSON.stringify({ policies: ['good.yaml'], cases }));
    const { code, out } = await act('test', { cases: 'cases.yaml', junit: 'report.xml' });
    assert.deepEqual([code, /FAIL web: one/.test(out)], [1, true], out);
    assert.match(readFileSync(join(folder, 'report.xml'), 'utf8'), /<failure message="runs 1.4.1, expected 1.4.2">/);
  });

  it('announce passes the secret by the environment alone, and refuses to send it over http', async () => {
    const { code, out } = await act('announce', { image: 'x.example.com/web:1', url: `${origin}/webhooks/ci`, secret: 's3cret' });
    assert.deepEqual([code, /whoever listens/.test(out), requests], [2, true, []], out);
    assert.ok(!readAction('announce').runs.steps[0].run.includes('secret'));
  });

  for (const [end, expected] of [
    ['rolledOut', 0],
    ['failed', 1],
  ] as const)
    it(`announce ends with ${expected} for an image whose result is ${end}`, async () => {
      state = end;
      const { runs, inputs } = readAction('announce');
      const env = {
        IMAGE: 'x.example.com/web:1',
        URL: `${origin}/webhooks/ci`,
        WEBHOOK_SECRET: 's3cret',
        WAIT: inputs['wait']?.default ?? '',
        TIMEOUT: inputs['timeout']?.default ?? '',
        IMAGE_WATCHER_VERSION: '',
      };
      const path = { PATH: withProgram(), HOME: folder, GITHUB_ACTION_PATH: join(actions, 'announce') };
      const { code, out } = await shell(insecurely(runs.steps[0].run), { ...env, ...path });
      assert.equal(code, expected, out);
      assert.match(requests[0] ?? '', /^POST \/webhooks\/ci Bearer s3cret \{"image":"x\.example\.com\/web:1","id":/);
    });

  it('an action downloads the program of a release if it is not on the PATH', async () => {
    writeFileSync(join(folder, 'good.yaml'), policy({}));
    const bare = '/usr/local/bin:/usr/bin:/bin';
    const none = await act('lint', { paths: 'good.yaml' }, bare);
    assert.deepEqual([none.code, /say with the input version/.test(none.out)], [2, true], none.out);
    const { code, out } = await act('lint', { paths: 'good.yaml', version: '1.2.3' }, bare, { IMAGE_WATCHER_RELEASES: origin });
    assert.equal(code, 0, out);
    assert.match(requests[0] ?? '', /^GET \/v1\.2\.3\/image-watcher-1\.2\.3-linux-(?:amd64|arm64)\.tar\.gz /);
  });

  it('the job for GitLab downloads the program, and succeeds when the image is rolled out', async () => {
    const page = pages.find(({ path }) => path === 'docs/pipelines.md') ?? assert.fail();
    const { body } = fencesOf(page.text).find((fence) => fence.body.startsWith('# .gitlab-ci.yml')) ?? assert.fail();
    const { deploy } = parse(body) as { deploy: { variables: Record<string, string>; script: string[] } };
    const script = insecurely(deploy.script.join('\n'))
      .replaceAll('https://github.com/technomad/image-watcher/releases/download', origin)
      .replaceAll('https://hooks.example.com', origin)
      .replaceAll('/tmp', folder);
    const variables = { CI_REGISTRY_IMAGE: 'registry.example.com/shop/web', CI_COMMIT_TAG: '1.4.2', WEBHOOK_SECRET: 's3cret' };
    const { code, out } = await shell(script, { ...deploy.variables, ...variables, PATH: process.env['PATH'] ?? '', HOME: folder });
    assert.equal(code, 0, out);
    assert.match(requests[1] ?? '', /"image":"registry\.example\.com\/shop\/web:1\.4\.2"/);
  });
});

function policy(spec: object): string {
  return JSON.stringify({
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { image: 'nginx', select: { semver: { range: '1.x' } }, targets: [{ kind: 'Deployment', name: 'web' }], ...spec },
  });
}
