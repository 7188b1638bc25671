/** The scripts of the guides, as they are in the pages, against a real receiver with the settings of the pages. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { startRedis, type Redis } from '../harness/redis.ts';
import { findOnPath } from '../harness/run-command.ts';
import { startService, type Service } from '../harness/service.ts';
import { makeIssuer } from '../service/receive/keys.ts';
import { fencesOf, root } from './markdown.ts';

const missing = ['bash', 'curl', 'jq', 'openssl'].filter((program) => findOnPath([program]) === undefined);
const secret = 'the-secret-of-the-guides';
const origin = 'https://hooks.example.com';

interface Receiver {
  readonly name: string;
  readonly oidc?: { readonly issuer: string; readonly audience: string; readonly claims: Record<string, string> };
}

const fences = (page: string) => fencesOf(readFileSync(join(root, 'docs', page), 'utf8'));

/** The receivers of the `number`th file values.yaml of a page, or of its first settings. */
function receiversOf(page: string, number = 0): Receiver[] {
  const files = fences(page).filter(({ language, body }) => language === 'yaml' && /^(?:# values\.yaml|receivers:)/.test(body));
  const { config, receivers } = parse(files[number]?.body ?? '') as { config?: { receivers: Receiver[] }; receivers?: Receiver[] };
  return config?.receivers ?? receivers ?? assert.fail(`${page} has no receivers`);
}

/** The one receiver of a guide that has a token of an issuer. */
function tokenOf(page: string) {
  return receiversOf(page)[0]?.oidc ?? assert.fail(`${page} has no oidc`);
}

/** A file that a page shows, by its first line. */
function fileOf(page: string, name: string, number = 0): unknown {
  const found = fences(page).filter(({ body }) => body.startsWith(`# ${name}\n`));
  return parse(found[number]?.body ?? assert.fail(`${page} does not show ${name}`));
}

/** The commands of a page that begin with `curl` and send a push. */
function curlsOf(page: string): string[] {
  const lines = fences(page).flatMap(({ language, body }) => (language === 'sh' ? body.split('\n') : []));
  return lines.filter((line) => /^(?:curl -fsS|body=)/.test(line) && line.includes('/webhooks/') && line.includes(' -d '));
}

describe('guides', { skip: missing.length > 0 && `needs ${missing.join(', ')}` }, () => {
  let redis: Redis;
  let issuer: Awaited<ReturnType<typeof makeIssuer>>;
  let withTokens: Service;
  let withSecrets: Service;
  let claims: Record<string, string> = {};

  const mint = ({ issuer: iss, audience: aud }: { issuer: string; audience: string }) => {
    const seconds = Math.floor(Date.now() / 1_000);
    return issuer.token({ iss, aud, sub: 'a job', iat: seconds, exp: seconds + 600, ...claims });
  };
  /** Keys of the issuer, and what GitHub serves to a job: a token for the audience that it asks for. */
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (url.pathname === '/keys') return void response.end(issuer.jwks);
    if (request.headers.authorization !== 'Bearer of-the-job') return void response.writeHead(401).end();
    const audience = (url.searchParams.get('audience') ?? '').replace(withTokens.publicUrl, origin);
    void mint({ issuer: tokenOf('guides/github-actions.md').issuer, audience }).then((value) => response.end(JSON.stringify({ value })));
  });
  const serverUrl = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  before(async () => {
    issuer = await makeIssuer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    redis = await startRedis();
    const start = (receivers: Receiver[]) => {
      const local = receivers.map(({ oidc, ...rest }) => ({ ...rest, ...(oidc && { oidc: { ...oidc, jwksUri: serverUrl('/keys') } }) }));
      const env = { HUB_SECRET: secret, CI_SECRET: secret, HARBOR_SECRET: secret };
      return startService({ redisUrl: redis.url, roles: 'receive', config: { receivers: local }, env });
    };
    [withTokens, withSecrets] = await Promise.all([
      start([...receiversOf('guides/github-actions.md'), ...receiversOf('guides/gitlab-ci.md')]),
      start([
        ...receiversOf('guides/github-actions.md', 1),
        ...receiversOf('guides/docker-hub.md'),
        ...receiversOf('guides/harbor-on-kind.md'),
      ]),
    ]);
  });
  after(async () => {
    await Promise.all([withTokens.stop(), withSecrets.stop()]);
    await redis.stop();
    server.close();
    server.closeAllConnections();
  });

  /** Runs a script of a page; returns the exit code, and which images the answer says are accepted. */
  async function run(service: Service, script: string, variables: Record<string, string>) {
    const local = (text: string) => text.replaceAll(origin, service.publicUrl).replaceAll('http://127.0.0.1:8080', service.publicUrl);
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, local(value)])),
    };
    const [code, stdout] = await new Promise<[number, string]>((resolve) => {
      execFile('bash', ['-euo', 'pipefail', '-c', local(script)], { env }, (error, out) => resolve([Number(error?.code ?? 0), out]));
    });
    const { accepted = [] } = code === 0 ? (JSON.parse(stdout) as { accepted?: { image?: string }[] }) : {};
    return { code, accepted: accepted.length };
  }

  const accepted = { code: 0, accepted: 1 };
  /** What curl ends with when the answer is 401. */
  const refused = { code: 22, accepted: 0 };

  for (const page of ['receivers/generic.md', 'guides/no-public-address.md', 'guides/docker-hub.md'])
    for (const [index, curl] of curlsOf(page).entries())
      test(`curl ${index + 1} of docs/${page} is accepted with the secret only`, async () => {
        assert.deepEqual(await run(withSecrets, curl, { SECRET: secret }), accepted);
        assert.deepEqual(await run(withSecrets, curl, { SECRET: 'another-secret-of-somebody' }), refused);
      });

  interface Workflow {
    jobs: { image: { steps: { name?: string; env: Record<string, string>; run: string }[] } };
  }
  /** The step that announces the image, with what GitHub puts into its variables. */
  function stepOf(number: number) {
    const { jobs } = fileOf('guides/github-actions.md', '.github/workflows/release.yml', number) as Workflow;
    const { run: script, env } = jobs.image.steps.find(({ name }) => name === 'Announce the image') ?? assert.fail('no such step');
    const IMAGE = env['IMAGE']?.replace('${{ github.ref_name }}', 'v1.2.3') ?? '';
    return { script, env: { ...env, IMAGE, GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: String(number) } };
  }

  test('the step with a token in docs/guides/github-actions.md is accepted from the owner only', async () => {
    const { script, env } = stepOf(0);
    const ofTheJob = { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job', ACTIONS_ID_TOKEN_REQUEST_URL: serverUrl('/token?api-version=2.0') };
    claims = tokenOf('guides/github-actions.md').claims;
    assert.deepEqual(await run(withTokens, script, { ...env, ...ofTheJob }), accepted);
    claims = { ...claims, repository_owner: 'mallory' };
    assert.deepEqual(await run(withTokens, script, { ...env, ...ofTheJob }), refused);
    assert.deepEqual(await run(withTokens, script, { ...env, ...ofTheJob, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'another' }), refused);
  });

  test('the step with a secret in docs/guides/github-actions.md is accepted with the secret only', async () => {
    const { script, env } = stepOf(1);
    assert.deepEqual(await run(withSecrets, script, { ...env, SECRET: secret }), accepted);
    assert.deepEqual(await run(withSecrets, script, { ...env, SECRET: 'another-secret-of-somebody' }), refused);
  });

  test('the job announce in docs/guides/gitlab-ci.md is accepted from the namespace only', async () => {
    interface Job {
      id_tokens: { TOKEN: { aud: string } };
      variables: Record<string, string>;
      script: [string];
    }
    const { announce } = fileOf('guides/gitlab-ci.md', '.gitlab-ci.yml') as { announce: Job };
    const { issuer: iss, claims: ours } = tokenOf('guides/gitlab-ci.md');
    const send = async () => {
      const TOKEN = await mint({ issuer: iss, audience: announce.id_tokens.TOKEN.aud });
      const ofTheJob = { CI_JOB_ID: '7', CI_REGISTRY_IMAGE: 'registry.gitlab.com/acme/web', CI_COMMIT_TAG: 'v1.2.3' };
      return run(withTokens, announce.script[0], { ...announce.variables, ...ofTheJob, TOKEN });
    };
    claims = ours;
    assert.deepEqual(await send(), accepted);
    claims = { ...ours, namespace_path: 'mallory' };
    assert.deepEqual(await send(), refused);
  });

  test('what Harbor sends with the webhook in docs/guides/harbor-on-kind.md is accepted', async () => {
    const [, body = ''] =
      /<<JSON\n([^]*?)^JSON$/m.exec(
        fences('guides/harbor-on-kind.md')
          .map((fence) => fence.body)
          .join('\n'),
      ) ?? [];
    const { targets } = JSON.parse(body.replace('$SECRET', secret)) as { targets: { address: string; auth_header: string }[] };
    const [{ address, auth_header: authorization } = assert.fail('no target')] = targets;
    const url = address.replace('http://image-watcher.image-watcher.svc.cluster.local', withSecrets.publicUrl);
    const delivery = readFileSync(join(root, 'test/fixtures/payloads/harbor/harbor-push-default-tag.json'), 'utf8');
    const send = (value: string) => fetch(url, { method: 'POST', body: delivery, headers: { authorization: value } });
    assert.equal((await send(authorization)).status, 202);
    assert.equal((await send('another-secret-of-somebody')).status, 401);
  });
});
