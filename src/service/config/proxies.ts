/** The setting `registries[].proxy`, and the environment variables that name all other proxies. */
import { z } from 'zod';
import { parseProxy, type Proxies, type Proxy, type RegistryProxy } from '../../core/model/proxy.ts';
import { secretReference } from './scalars.ts';
import type { SettingProblem } from './schema-problems.ts';
import { openSecret } from './secrets.ts';

const url = z
  .url({ protocol: /^https?$/, hostname: /./, error: 'a URL such as http://proxy.example.com:3128, or none' })
  .refine((text) => !/^https?:\/\/[^/]*@/.test(text), 'must not hold a password: give the whole URL as {env: NAME} or {file: PATH}');

/** Schema of the setting `proxy` of a registry. */
export const registryProxy = z
  .union([z.literal('none'), secretReference, url], {
    error: 'a URL without a password such as http://proxy.example.com:3128, {env: NAME} or {file: PATH} with a whole URL, or none',
  })
  .optional()
  .describe(
    'The proxy for everything that this registry needs: its API, its token server, and where it redirects. A URL; {env: NAME} or {file: PATH} with the whole URL if it contains a password, read at the start; or none, to use no proxy whatever the environment says. By default, HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide: see [proxies](operations/proxies.md).',
  );

type Environment = Readonly<Record<string, string | undefined>>;

interface RegistryDraft {
  readonly host: string;
  readonly proxy?: z.output<typeof registryProxy>;
}

/** Reads all proxies. Errors are in `problems`, and quote no values. Variables in lower case take precedence, as for curl. */
export function openProxies(
  registries: readonly RegistryDraft[],
  env: Environment,
): { readonly proxies: Proxies; readonly problems: readonly SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const parse = (text: string, place: Omit<SettingProblem, 'message'>, source: string): Proxy | undefined => {
    const parsed = parseProxy(text.trim(), source);
    if (!('problem' in parsed)) return parsed;
    problems.push({ ...place, message: parsed.problem });
    return undefined;
  };
  const ofEnvironment = (name: string) => {
    const found = [name.toLowerCase(), name].find((one) => env[one] !== undefined);
    const text = found === undefined ? '' : (env[found] ?? '');
    return found === undefined || text.trim() === '' ? undefined : parse(text, { keys: [], variable: found }, found);
  };
  const ofRegistry = ({ proxy }: RegistryDraft, index: number): RegistryProxy | undefined => {
    if (proxy === undefined || proxy === 'none') return proxy;
    const keys = ['registries', index, 'proxy'];
    const source = 'registries[].proxy';
    if (typeof proxy === 'string') return parse(proxy, { keys }, source);
    const { read, problem } = openSecret(proxy, env);
    if (problem === undefined) return parse(read(), { keys }, source);
    problems.push({ keys, message: problem });
    return undefined;
  };
  const named = registries.flatMap((registry, index) => {
    const proxy = ofRegistry(registry, index);
    return proxy === undefined ? [] : [[registry.host, proxy] as const];
  });
  const proxies = {
    http: ofEnvironment('HTTP_PROXY'),
    https: ofEnvironment('HTTPS_PROXY'),
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
    registries: new Map(named),
  };
  return { proxies, problems };
}
