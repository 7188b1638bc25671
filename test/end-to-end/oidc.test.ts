/** Sign-in at a real identity provider whose tokens the API server accepts: the user's groups there decide what he sees and may do. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { client, signInAt, startProvider, type Claims } from '../dashboard/identity-provider.ts';
import { startControlPlane } from '../harness/control-plane.ts';
import { flags } from '../harness/flags.ts';
import { pushImage } from '../harness/push-image.ts';
import { createAuthority } from '../harness/server-certificate.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type Service, type World } from './world.ts';

/** Where the provider sends users back to; the test brings them to the service. */
const publicUrl = 'http://localhost:9090';
const ann: Claims = { email: 'ann@example.com', email_verified: true, groups: [] };

describe('the dashboard with an API server that trusts the identity provider', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let world: World;
  let service: Service;
  let claims: Claims = ann;
  before(async () => {
    const authority = await createAuthority('the authority of the provider');
    setDefaultCACertificates([...getCACertificates('default'), authority.ca]);
    const caFile = join(tempFolder('provider'), 'ca.pem');
    writeFileSync(caFile, authority.ca);
    provider = await startProvider(publicUrl, () => claims, await authority.issue([{ type: 'dns', value: 'localhost' }]));
    const moreFlags = flags({
      'oidc-issuer-url': provider.issuer,
      'oidc-ca-file': caFile,
      'oidc-client-id': client.id,
      'oidc-username-claim': 'email',
      'oidc-groups-claim': 'groups',
      'oidc-groups-prefix': 'oidc:',
    });
    world = await startWorld({ cluster: await startControlPlane({ fsync: false, moreFlags }) });
    service = await world.start({
      env: { WEBHOOK_SECRET: 'end-to-end-secret', CLIENT_SECRET: client.secret, NODE_EXTRA_CA_CERTS: caFile },
      config: {
        operations: { actions: true },
        dashboard: {
          publicUrl,
          oidc: {
            issuer: provider.issuer,
            clientId: client.id,
            clientSecret: { env: 'CLIENT_SECRET' },
            scopes: ['openid', 'email', 'groups'],
            groupsPrefix: 'oidc:',
          },
        },
      },
    });
    await permit('shop', ['get', 'list', 'patch']);
    await permit('readers', ['get', 'list']);
    const image = `${world.quiet.host}/shop/web`;
    await pushImage({ host: world.quiet.host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
    await world.createDeployment('web', `${image}:1.0.0`);
    await world.createPolicy('web', image, { strategy: 'SemVer' });
    await world.waitForFirstLook('web');
    // The API server reads the keys of the provider in the background.
    claims = { ...ann, groups: ['shop'] };
    await waitFor('the API server to accept its tokens', async () => (await signIn(['shop'])).isAccepted);
  });
  after(async () => {
    await world?.stop();
    await provider?.stop();
  });

  /** Lets a group of the provider do this with the policies of the namespace. */
  async function permit(group: string, verbs: string[]): Promise<void> {
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${world.namespace}`;
    const metadata = { name: group };
    const apiGroup = 'rbac.authorization.k8s.io';
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs }];
    await world.cluster.request('POST', `${path}/roles`, { metadata, rules });
    await world.cluster.request('POST', `${path}/rolebindings`, {
      metadata,
      roleRef: { apiGroup, kind: 'Role', name: group },
      subjects: [{ apiGroup, kind: 'Group', name: `oidc:${group}` }],
    });
  }

  /** Signs in as a member of these groups; returns a browser without JavaScript. */
  async function signIn(groups: readonly string[]) {
    claims = { ...ann, groups };
    const cookies = new Map<string, string>();
    const send = async (path: string, form?: Readonly<Record<string, string>>) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(`${service.operationsUrl}${path}`, {
        redirect: 'manual',
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const one of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
        cookies.set(name, value);
      }
      return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() };
    };
    const { pathname, search } = await signInAt((await send('/sign-in/oidc')).location, publicUrl);
    assert.equal((await send(`${pathname}${search}`)).status, 303);
    const { text } = await send('/policies');
    assert.match(text, /Signed in as ann@example\.com/);
    return { send, policies: text, isAccepted: !text.includes('Read-only: actions need a token') };
  }
  const suspend = (send: Awaited<ReturnType<typeof signIn>>['send']) => send(`/policies/${world.namespace}/web/suspend`, {});
  const isSuspended = async () => {
    const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies/web`;
    return (await world.cluster.request<{ spec: { suspend?: boolean } }>('GET', path)).spec.suspend === true;
  };

  it('shows nothing to a user in no group, or in one that is only named like a group of the system', async () => {
    const { send, policies, isAccepted } = await signIn(['system:masters']);
    assert.ok(isAccepted);
    assert.match(policies, /0 policies/);
    assert.equal((await send(`/policies/${world.namespace}/web`)).status, 403);
  });

  it('shows the policies of its namespace to a group that may read them, and refuses its actions', async () => {
    const { send, policies } = await signIn(['readers']);
    assert.match(policies, /1 polic/);
    const refused = await suspend(send);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /ann@example\.com[^<]*cannot patch resource/);
    assert.equal(await isSuspended(), false);
  });

  it('lets a group act that may, with the token of the provider', async () => {
    const { send } = await signIn(['readers', 'shop']);
    assert.equal((await suspend(send)).status, 303);
    assert.equal(await isSuspended(), true);
  });
});
