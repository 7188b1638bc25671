import { z } from 'zod';
import { openOnlyOnLoopback, proxyIsKnown } from './rules.ts';
import { headerName, network, port, secretReference } from './scalars.ts';

/** Schema of the setting `operations`. */
export const operations = z
  .strictObject({
    host: z.string().default('0.0.0.0').describe('The address to listen on.'),
    port: port.default(9090).describe('The port; 0 means any free port.'),
    auth: z
      .enum(['kubernetes', 'proxy', 'none'])
      .default('kubernetes')
      .describe(
        'Who may use it. kubernetes: callers with a bearer token, with the permissions that Kubernetes grants them. proxy: the users that a trusted proxy names. none: everybody, on loopback only.',
      ),
    proxy: z
      .strictObject({
        userHeader: headerName.default('X-Forwarded-User').describe('The header that names the user.'),
        groupsHeader: headerName
          .optional()
          .describe(
            'The header that names the groups, separated by commas. The proxy must set it in every request. Without this setting, users have no groups.',
          ),
        secret: secretReference
          .optional()
          .describe(
            'A secret that only the proxy knows, at least 16 characters: {env: NAME} or {file: PATH}. Required with auth: proxy. With auth: kubernetes, requests with the secret are accepted as well, as those of the user that they name: the dashboard sends such requests for users of dashboard.oidc whom the API server does not know.',
          ),
        secretHeader: headerName.default('X-Proxy-Secret').describe('The header in which the proxy sends the secret.'),
        trustedPeers: z
          .array(network.describe('An address or a network.'))
          .max(64)
          .default(['127.0.0.0/8', '::1'])
          .describe('The addresses that the proxy connects from. Requests from other addresses are rejected, even with the secret.'),
      })
      .describe('The authenticating proxy, for auth: proxy.')
      .prefault({}),
    trustedProxies: z
      .array(network.describe('An address or a network.'))
      .max(64)
      .default([])
      .describe(
        'The addresses that an Ingress connects from: it says in X-Forwarded-For which client a request comes from. Limits are then those of each client; without this setting, clients without a session share those of the Ingress.',
      ),
    actions: z
      .boolean()
      .default(false)
      .describe(
        'Whether callers may approve, roll back, release, check, suspend and resume policies through the API, with their own token and rights. Only with auth: kubernetes.',
      ),
  })
  .describe('The listener for the cluster: health, metrics and the API.')
  .superRefine(openOnlyOnLoopback)
  .superRefine(proxyIsKnown)
  .prefault({});
