/** The address and the secret of a NotificationTarget, which are in Secrets of its namespace. */
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { readLine } from '../core/model/image-source.ts';
import { describeError } from '../core/model/errors.ts';
import { publicUrls, type NotificationTarget, type NotificationTargetSpec, type SecretKeyRef } from '../core/model/notification-target.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import { isAllowedHost } from './allowed-hosts.ts';
import type { TargetState } from './target-status.ts';

export interface TargetSecrets {
  /** The target as one of the configuration, which reads its Secrets whenever a message is sent. */
  toConfigured(target: NotificationTarget, spec: NotificationTargetSpec): ConfiguredTarget;
  /** Why the Secrets of a target cannot be used; undefined if they can. */
  problemOf(namespace: string, spec: NotificationTargetSpec): Promise<TargetState | undefined>;
}

/** Creates the reader. `hosts`: the hosts that addresses may name. */
export function createTargetSecrets(readSecret: ReadSecret, hosts: readonly string[]): TargetSecrets {
  const read = async (namespace: string, { name, key }: SecretKeyRef) => {
    const found = readLine(await readSecret({ namespace, name }, { refresh: false }), key);
    if ('why' in found) throw new Error(`the Secret ${name} ${found.why}`);
    return found.line;
  };
  /** The address of a target, or why it has no usable one. The reason contains nothing of the Secret. */
  const readUrl = async (namespace: string, { type, urlSecret }: NotificationTargetSpec): Promise<string | TargetState> => {
    if (urlSecret === undefined) return publicUrls[type] ?? '';
    try {
      const text = await read(namespace, urlSecret);
      const url = URL.parse(text);
      if (url === null)
        return { reason: 'SecretNotUsable', message: `the key ${urlSecret.key} of the Secret ${urlSecret.name} holds no URL` };
      if (isAllowedHost(url, hosts)) return text;
      const message = 'the host of its URL is not allowed: ask the operator to add it to notifications.hosts of the configuration';
      return { reason: 'HostNotAllowed', message };
    } catch (error) {
      return { reason: 'SecretNotUsable', message: describeError(error) };
    }
  };
  const readToken = async (namespace: string, { secret }: NotificationTargetSpec) => (secret === undefined ? '' : read(namespace, secret));
  return {
    toConfigured: ({ namespace, name }, spec) => ({
      name: `${namespace}/${name}`,
      kind: spec.type,
      events: spec.events,
      namespaces: [namespace],
      policies: spec.policyLabels,
      email: spec.email,
      forge: spec.forge,
      template: spec.template,
      // Whether plain http is allowed depends on the host. Mails need TLS.
      insecure: spec.type !== 'email',
      perMinute: spec.perMinute,
      async url() {
        const found = await readUrl(namespace, spec);
        if (typeof found !== 'string') throw new Error(found.message);
        return found;
      },
      secret: () => readToken(namespace, spec),
    }),
    async problemOf(namespace, spec) {
      const url = await readUrl(namespace, spec);
      if (typeof url !== 'string') return url;
      return readToken(namespace, spec).then(
        () => undefined,
        (error: unknown) => ({ reason: 'SecretNotUsable', message: describeError(error) }),
      );
    },
  };
}
