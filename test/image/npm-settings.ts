import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

type Settings = Readonly<Record<string, unknown>>;

/** How this machine reaches its package registry, as a .npmrc that stands alone: addresses, proxies, authorities and credentials. */
export async function npmSettings(): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'list', '--json']);
  const settings = JSON.parse(stdout) as Settings;
  const plain = ['registry', 'proxy', 'https-proxy', 'noproxy', 'strict-ssl'].flatMap((key) => lineOf(key, settings[key]));
  const credentials = [settings['globalconfig'], settings['userconfig']].flatMap(credentialsIn);
  return [...plain, ...authorities(settings), ...credentials, ''].join('\n');
}

function lineOf(key: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.filter(Boolean).map((item) => `${key}[]=${String(item)}`);
  return value === null || value === undefined || value === '' ? [] : [`${key}=${JSON.stringify(value)}`];
}

/** In the text itself: the build has none of our files. */
function authorities(settings: Settings): string[] {
  const file = settings['cafile'] ?? process.env['NODE_EXTRA_CA_CERTS'];
  if (typeof file !== 'string' || file === '') return [];
  const certificates = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return certificates.map((certificate) => `ca[]=${JSON.stringify(certificate)}`);
}

/** npm shows them to nobody, so they are read from its files: `//host/:_authToken=…`. */
function credentialsIn(file: unknown): string[] {
  if (typeof file !== 'string') return [];
  const lines = readIfPresent(file).split('\n');
  return lines
    .filter((line) => line.startsWith('//'))
    .map((line) => line.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => process.env[name] ?? ''));
}

function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
