/** A real identity provider (OpenID Connect) on loopback, and a user who signs in there. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** What the provider says of its one user. */
export interface Claims {
  readonly email: string;
  readonly email_verified: boolean;
  readonly groups: readonly string[];
}

export const client = { id: 'image-watcher', secret: 'the secret of the client' } as const;

/** Starts it for a dashboard at `publicUrl`, over TLS if there is a certificate; `claims` are read at each sign-in. `name`: of its host, localhost unless given. */
export async function startProvider(
  publicUrl: string,
  claims: () => Claims,
  tls?: Pick<ServerOptions, 'cert' | 'key'>,
  name = 'localhost',
) {
  let answer: ReturnType<Provider['callback']> | undefined;
  const listener: RequestListener = (request, response) => void answer?.(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `${tls === undefined ? 'http' : 'https'}://${name}:${(server.address() as AddressInfo).port}`;
  // It warns of what is only for development, which this is.
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${publicUrl}/sign-in/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    // As Kubernetes needs it: the token itself names the user and his groups.
    conformIdTokenClaims: false,
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 600, Interaction: 60, Session: 60 },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...claims(), groups: [...claims().groups] }) }),
  });
  answer = provider.callback();
  Object.assign(console, { info, warn });
  return {
    issuer,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Follows the pages of the provider as a user does who signs in and consents; returns where he is sent back to. `browse`: how his browser reaches it. */
export async function signInAt(address: string, publicUrl: string, browse = fetch): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let steps = 0; steps < 12; steps++) {
    if (url.href.startsWith(publicUrl)) return url;
    const response = await browse(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      [url, form] = [new URL(location, url), undefined];
      continue;
    }
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(text) ?? [];
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(text) ?? [];
    if (action === undefined) throw new Error(`the provider shows no form: ${text.slice(0, 500)}`);
    [url, form] = [new URL(action, url), new URLSearchParams({ prompt, login: 'ann', password: 'any' })];
  }
  throw new Error('the provider sends the user around in circles');
}
