/** The names under which images of a repository manager are pulled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifactory } from '../../../src/service/receive/providers/artifactory.ts';
import { nexus } from '../../../src/service/receive/providers/nexus.ts';
import { pulledNames } from '../../../src/service/receive/read-delivery.ts';
import { startApp } from './start-app.ts';

const origin = { registry: 'acme.jfrog.io', tag: '1', digest: 'd' };
const push = (key: string) => ({ ...origin, repository: `${key}/team/api`, within: { key, image: 'team/api' } });

/** `registry/repository` of what becomes of a push to this repository. */
const namesOf = (key: string, repositories?: Parameters<typeof pulledNames>[1]) =>
  pulledNames(push(key), repositories).map(({ registry, repository }) => `${registry}/${repository}`);

for (const [name, repositories, key, expected] of [
  ['without the setting: as the sender says', undefined, 'docker-local', ['acme.jfrog.io/docker-local/team/api']],
  ['not in the list: as the sender says', { other: 'r.example.com' }, 'docker-local', ['acme.jfrog.io/docker-local/team/api']],
  ['a sub-domain', { 'docker-local': 'docker-local.acme.com' }, 'docker-local', ['docker-local.acme.com/team/api']],
  ['a port', { 'docker-local': 'acme.com:5001' }, 'docker-local', ['acme.com:5001/team/api']],
  ['a virtual repository by path', { 'docker-local': 'acme.jfrog.io/docker' }, 'docker-local', ['acme.jfrog.io/docker/team/api']],
  [
    'several names',
    { 'docker-local': ['acme.jfrog.io/docker', 'docker.acme.com'] },
    'docker-local',
    ['acme.jfrog.io/docker/team/api', 'docker.acme.com/team/api'],
  ],
  ['all of them by sub-domain', { '*': '{key}.acme.com' }, 'docker-local', ['docker-local.acme.com/team/api']],
  ['all of them by path, at another host', { '*': 'acme.com/{key}' }, 'docker-local', ['acme.com/docker-local/team/api']],
  ['one of them otherwise', { '*': '{key}.acme.com', 'docker-local': 'docker.acme.com' }, 'docker-local', ['docker.acme.com/team/api']],
  ['keys are compared whole', { '*': '{key}.acme.com', Docker: 'x.acme.com' }, 'docker', ['docker.acme.com/team/api']],
  ['what every object has', { other: 'r.example.com' }, 'constructor', ['acme.jfrog.io/constructor/team/api']],
  // Who may send has no say in which host it is.
  ['a key that holds a host', { '*': '{key}.acme.com' }, 'evil.example.com/x', ['acme.jfrog.io/evil.example.com/x/team/api']],
  ['a key that holds a port', { '*': '{key}.acme.com' }, 'evil:5000', ['acme.jfrog.io/evil:5000/team/api']],
  ['a key that holds a user', { '*': '{key}.acme.com' }, 'a@evil', ['acme.jfrog.io/a@evil/team/api']],
  ['a key that would stand for another pattern', { '*': '{key}.acme.com' }, '$&', ['acme.jfrog.io/$&/team/api']],
] as const) {
  test(`a repository key becomes the right name in the case "${name}"`, () => assert.deepEqual(namesOf(key, repositories), expected));
}

test('a push without a repository key of a registry manager is unchanged', () => {
  const plain = { ...origin, repository: 'team/api' };
  assert.deepEqual(pulledNames(plain, { '*': 'x.example.com' }), [plain]);
});

const data = { repo_key: 'docker-local', image_name: 'team/api', tag: '1.0.0', name: 'manifest.json', sha256: 'a'.repeat(64) };
const body = JSON.stringify({ domain: 'docker', event_type: 'pushed', data, jpd_origin: 'https://acme.jfrog.io' });

test('each configured name of an Artifactory repository gets a push of its own', async (t) => {
  const repositories = { 'docker-local': ['acme.jfrog.io/docker', 'Docker.acme.com:443', 'alias.acme.com'] };
  const aliases = new Map([['alias.acme.com', 'docker.acme.com']]);
  const { app, stored } = await startApp(t, { provider: artifactory, repositories }, { aliases });
  const response = await app.inject({ method: 'POST', url: '/webhooks/prod', headers: { 'x-jfrog-event-auth': 's3cret' }, body });
  assert.equal(response.statusCode, 202);
  assert.deepEqual(
    stored.map(({ repository: { registry, path }, tag, digest }) => [`${registry}/${path}`, tag, digest]),
    [
      ['acme.jfrog.io/docker/team/api', '1.0.0', `sha256:${'a'.repeat(64)}`],
      // Two spellings of one name are one push.
      ['docker.acme.com/team/api', '1.0.0', `sha256:${'a'.repeat(64)}`],
    ],
  );
});

test('Nexus connectors of several repositories work behind one receiver', async (t) => {
  const repositories = { 'docker-hosted': 'nexus.example.com:8082', 'docker-dev': 'nexus.example.com:8083' };
  const { app, stored } = await startApp(t, { provider: nexus, repositories, unauthenticated: true });
  for (const repositoryName of ['docker-hosted', 'docker-dev', 'docker-other']) {
    const component = { format: 'docker', name: 'team/api', version: '1.0.0' };
    await app.inject({ method: 'POST', url: '/webhooks/prod', body: JSON.stringify({ repositoryName, action: 'CREATED', component }) });
  }
  assert.deepEqual(
    stored.map(({ repository }) => repository.registry),
    ['nexus.example.com:8082', 'nexus.example.com:8083'],
  );
});
