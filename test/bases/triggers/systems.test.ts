/** The request of each CI system, as its documentation wants it. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { CiAccess, CiSystemKind, Rebuild } from '../../../src/bases/triggers/order.ts';
import { systems } from '../../../src/bases/triggers/systems/index.ts';

const rebuild: Rebuild = {
  id: 'd1f0',
  policy: { namespace: 'platform', name: 'java' },
  base: { repository: 'harbor.example.com/library/base-java', tag: '21.0.7', digest: `sha256:${'b'.repeat(64)}` },
  source: 'shop/web',
  image: 'harbor.example.com/shop/web:1.2.3',
};
const inputs = {
  base_image: rebuild.base.repository,
  base_tag: '21.0.7',
  base_digest: rebuild.base.digest,
  image: rebuild.image,
  request_id: 'd1f0',
};
const access: CiAccess = {
  url: 'https://ci.example.com',
  project: 'shop/web',
  name: 'rebuild.yaml',
  ref: 'main',
  secret: 'token',
  now: new Date('2026-11-23T12:00:00Z'),
};
const build = (id: CiSystemKind['id'], more: Partial<CiAccess> = {}) => systems[id].build(rebuild, { ...access, ...more });
const formOf = (body: string) => Object.fromEntries(new URLSearchParams(body));

describe('a request has the documented form for', () => {
  it('GitHub, as repository_dispatch', () => {
    const { url, headers, body } = build('githubDispatch', { url: 'https://api.github.com', name: 'base-image' });
    assert.equal(url.href, 'https://api.github.com/repos/shop/web/dispatches');
    assert.equal(headers['authorization'], 'Bearer token');
    assert.deepEqual(JSON.parse(body), { event_type: 'base-image', client_payload: { ...inputs, source: 'shop/web' } });
    assert.ok(Object.keys(inputs).length < 10, 'GitHub takes ten properties');
  });

  it('GitHub, as workflow_dispatch', () => {
    const { url, body } = build('githubWorkflow', { url: 'https://github.example.com/api/v3' });
    assert.equal(url.href, 'https://github.example.com/api/v3/repos/shop/web/actions/workflows/rebuild.yaml/dispatches');
    assert.deepEqual(JSON.parse(body), { ref: 'main', inputs });
  });

  it('GitLab', () => {
    const { url, headers, body } = build('gitlab', { project: 'shop/backend/web' });
    assert.equal(url.href, 'https://ci.example.com/api/v4/projects/shop%2Fbackend%2Fweb/trigger/pipeline');
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
    const variables = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`variables[${name.toUpperCase()}]`, value]));
    assert.deepEqual(formOf(body), { token: 'token', ref: 'main', ...variables });
  });

  it('Gitea and Forgejo', () => {
    const { url, headers, body } = build('gitea');
    assert.equal(url.href, 'https://ci.example.com/api/v1/repos/shop/web/actions/workflows/rebuild.yaml/dispatches');
    assert.equal(headers['authorization'], 'token token');
    assert.deepEqual(JSON.parse(body), { ref: 'main', inputs });
  });

  it('Tekton, signed like a webhook of GitHub', () => {
    const { url, headers, body } = build('tekton', { url: 'http://el-rebuild.ci:8080/hooks' });
    assert.equal(url.href, 'http://el-rebuild.ci:8080/hooks');
    assert.deepEqual(JSON.parse(body), rebuild);
    assert.equal(headers['x-hub-signature-256'], `sha256=${createHmac('sha256', 'token').update(body).digest('hex')}`);
    assert.equal(headers['idempotency-key'], 'd1f0');
    assert.equal(build('tekton', { secret: '' }).headers['x-hub-signature-256'], undefined);
  });

  it('Jenkins, in folders', () => {
    const { url, headers, body } = build('jenkins', {
      url: 'https://ci.example.com/jenkins',
      name: 'shop/web build',
      secret: 'user:token',
    });
    assert.equal(url.href, 'https://ci.example.com/jenkins/job/shop/job/web%20build/buildWithParameters');
    assert.equal(headers['authorization'], `Basic ${Buffer.from('user:token').toString('base64')}`);
    assert.deepEqual(formOf(body), { ...inputs, source: 'shop/web' });
  });

  it('any webhook, as a signed CloudEvent', () => {
    const { headers, body } = build('webhook', { secret: `whsec_${Buffer.from('key').toString('base64')}` });
    const event = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([event['specversion'], event['id'], event['subject']], ['1.0', 'd1f0', 'shop/web']);
    const { base, image, source, policy } = rebuild;
    assert.deepEqual(event['data'], { base, image, source, policy });
    const expected = createHmac('sha256', 'key').update(`d1f0.1795435200.${body}`).digest('base64');
    assert.deepEqual(
      [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']],
      ['d1f0', '1795435200', `v1,${expected}`],
    );
    // The second signature of a plain key.
    const plain = build('webhook', { secret: 'key' });
    assert.equal(plain.headers['webhook-signature'], headers['webhook-signature']);
  });

  it('each system is called on its own host, whatever the project and the name are', () => {
    for (const { id, build } of Object.values(systems)) {
      for (const hostile of ['../../admin', '..%2f..%2f', '//evil.example.com/x', 'a?b=c#d', '@evil.example.com/']) {
        const { url } = build(rebuild, { ...access, project: hostile, name: hostile });
        assert.equal(url.host, 'ci.example.com', id);
        assert.ok(url.search === '' && url.hash === '', `${id}: ${url.href}`);
      }
    }
  });
});

it('each CI system is in the list under its own id', () => {
  for (const [id, system] of Object.entries(systems)) assert.equal(system.id, id);
});
