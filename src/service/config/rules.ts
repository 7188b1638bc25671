/** Rules between settings. They must accept values that are invalid in other ways, so that all errors of a configuration are reported together. */
import type { z } from 'zod';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import { providers } from '../receive/providers/index.ts';
import { reportTo } from './scalars.ts';

interface Draft {
  readonly [key: string]: unknown;
}

/** Checks that a receiver authenticates its sender, or states that it does not. */
export function authenticatesSomehow(receiver: Draft | null, context: z.RefinementCtx): void {
  if (typeof receiver !== 'object' || receiver === null || Array.isArray(receiver)) return;
  const report = reportTo(context);
  const way = ['secrets', 'oidc', 'sns'].find((key) => receiver[key] !== undefined);
  if (way === undefined && receiver['unauthenticated'] !== true) {
    report('secrets', 'missing: name at least one secret, oidc or sns, or say unauthenticated: true');
  }
  if (way !== undefined && receiver['unauthenticated'] === true) report('unauthenticated', `contradicts ${way}: remove one of them`);
}

/** Checks that only receivers of repository managers have `repositories`, and none of them also has `registry`. */
export function repositoriesAreKnown(receiver: Draft | null, context: z.RefinementCtx): void {
  if (typeof receiver !== 'object' || receiver === null || receiver['repositories'] === undefined) return;
  const report = reportTo(context);
  const managers = providers.filter(({ hasRepositories }) => hasRepositories === true).map(({ id }) => id);
  if (typeof receiver['provider'] === 'string' && !managers.includes(receiver['provider']))
    report('repositories', `only ${managers.join(' and ')} say which of their repositories was pushed to: set registry instead`);
  if (receiver['registry'] !== undefined)
    report('registry', 'contradicts repositories: write "*": HOST/{key} there for all other repositories, and remove registry');
}

/** Checks that only receivers of senders that announce the end of a scan have `waitForScan`. */
export function scansAreAnnounced(receiver: Draft | null, context: z.RefinementCtx): void {
  if (typeof receiver !== 'object' || receiver === null || receiver['waitForScan'] !== true) return;
  const announcing = providers.filter(({ announcesScans }) => announcesScans === true).map(({ id }) => id);
  if (typeof receiver['provider'] !== 'string' || announcing.includes(receiver['provider'])) return;
  reportTo(context)('waitForScan', `only ${announcing.join(' and ')} announces scans: remove it`);
}

/** Checks that labels of Namespaces are used only if the whole cluster is watched, because they cannot be watched in some namespaces. */
export function labelsAreWatched({ watch, policyDefaults }: LabelSettings, context: z.RefinementCtx): void {
  if (watch.namespaces.length === 0) return;
  const report = (path: (string | number)[], remedy: string) =>
    reportTo(context)(path, `contradicts watch.namespaces, with which no labels of namespaces are read: ${remedy}`);
  if (watch.namespaceSelector !== undefined) report(['watch', 'namespaceSelector'], 'remove one of them');
  for (const [index, { selector }] of policyDefaults.namespaces.entries())
    if (selector !== undefined) report(['policyDefaults', 'namespaces', index, 'selector'], 'write names');
}

interface LabelSettings {
  readonly watch: { readonly namespaces: readonly string[]; readonly namespaceSelector?: unknown };
  readonly policyDefaults: { readonly namespaces: readonly { readonly selector?: unknown }[] };
}

/** Checks that headersTimeout is not longer than requestTimeout, which includes the headers. */
export function headersComeFirst(listen: Draft | null, context: z.RefinementCtx): void {
  const { headersTimeout, requestTimeout } = listen ?? {};
  if (typeof headersTimeout !== 'number' || typeof requestTimeout !== 'number' || headersTimeout <= requestTimeout) return;
  reportTo(context)('headersTimeout', 'is longer than requestTimeout, which counts the headers too');
}

/** Checks files that need each other: certFile needs keyFile and vice versa; caFile needs certFile; clientNames needs clientCaFile. */
export function filesBelongTogether(conversion: Draft | null, context: z.RefinementCtx): void {
  if (typeof conversion !== 'object' || conversion === null || Array.isArray(conversion)) return;
  const { certFile, keyFile, caFile, clientCaFile, clientNames } = conversion;
  const report = reportTo(context);
  if (certFile !== undefined && keyFile === undefined) report('keyFile', 'missing: certFile needs its key');
  if (certFile === undefined && keyFile !== undefined) report('certFile', 'missing: keyFile needs its certificate');
  if (clientCaFile === undefined && Array.isArray(clientNames) && clientNames.length > 0)
    report('clientCaFile', 'missing: clientNames needs the authorities of their certificates');
  if (certFile === undefined && caFile !== undefined) report('caFile', 'is only for certFile: our own authority is in the Secret');
}

/** Checks that an operations listener without authentication is on loopback. */
export function openOnlyOnLoopback({ host, auth }: { host: string; auth: string }, context: z.RefinementCtx): void {
  if (auth !== 'none' || isLoopback(host)) return;
  const message = `none is only for a listener on loopback, and this one is on ${host}: set operations.host to 127.0.0.1, or auth to kubernetes`;
  reportTo(context)('auth', message);
}

/** Checks that the proxy proves its requests by a secret if auth is `proxy`. */
export function proxyIsKnown({ auth, proxy }: { auth: string; proxy: { secret?: unknown } }, context: z.RefinementCtx): void {
  if (auth !== 'proxy' || proxy.secret !== undefined) return;
  const message = 'missing: without a secret, anybody could send the headers of the proxy; set it as {env: NAME} or {file: PATH}';
  reportTo(context)(['proxy', 'secret'], message);
}

/** Whether a host is this machine, by a loopback name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Checks that the password is given once, that Sentinels and a Cluster exclude each other, and that in a Cluster all keys are in one slot. */
export function redisIsOfOneForm({ url, password, sentinels, cluster, prefix }: RedisForm, context: z.RefinementCtx): void {
  const report = reportTo(context);
  if (password !== undefined && URL.canParse(url) && new URL(url).password !== '')
    report('password', 'contradicts url, which has a password too: remove one of them');
  if (!cluster) return;
  if (sentinels.length > 0) report('sentinels', 'contradicts cluster: a Cluster promotes its replicas without Sentinels');
  if (!/\{[^}]+\}/.test(prefix)) report('prefix', 'needs braces in a Cluster, such as "{image-watcher}": they keep all keys in one slot');
  if (URL.canParse(url) && !/^\/?0?$/.test(new URL(url).pathname)) report('url', 'names a database, and a Cluster has only 0');
}

interface RedisForm {
  readonly url: string;
  readonly password?: unknown;
  readonly sentinels: readonly string[];
  readonly cluster: boolean;
  readonly prefix: string;
}

/** Checks that receivers have different names. */
export function namesAreUnique(receivers: readonly (Draft | null)[], context: z.RefinementCtx): void {
  if (!Array.isArray(receivers)) return;
  const seen = new Set<unknown>();
  for (const [index, receiver] of receivers.entries()) {
    const name = receiver?.['name'];
    if (seen.has(name)) reportTo(context)([index, 'name'], `"${String(name)}" is used twice: give each receiver a name of its own`);
    if (typeof name === 'string') seen.add(name);
  }
}

/** Checks that no host or alias belongs to two registries. */
export function hostsAreUnambiguous(registries: readonly (Draft | null)[], context: z.RefinementCtx): void {
  if (!Array.isArray(registries)) return;
  const seen = new Map<string, string>();
  for (const [index, registry] of registries.entries()) {
    const aliases: readonly unknown[] = Array.isArray(registry?.['aliases']) ? registry['aliases'] : [];
    const names = [['host', registry?.['host']] as const, ...aliases.map((alias, position) => [position, alias] as const)];
    for (const [key, text] of names) {
      if (typeof text !== 'string') continue;
      const other = seen.get(normaliseRegistry(text));
      seen.set(normaliseRegistry(text), String(registry?.['host']));
      if (other === undefined) continue;
      const path = key === 'host' ? [index, key] : [index, 'aliases', key];
      reportTo(context)(path, `"${text}" is already a name of ${other}: write each name once, with all settings of the registry`);
    }
  }
}
