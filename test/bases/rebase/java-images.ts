/** An application in Java on a base, and a newer base, in a real registry. */
import type { RebaseOrder } from '../../../src/bases/rebase/rebase-image.ts';
import { digestOf } from '../../harness/push-image.ts';
import { pushReal, type RealBuild } from './build.ts';

export const os = { 'etc/os-release': 'Debian PLATFORM', 'usr/lib/libc.so': 'libc', 'tmp/unused': 'x' };
const java1 = { 'opt/java/bin/java': 'java 21.0.1 PLATFORM', 'opt/java/old.jar': 'only in 21.0.1', 'etc/config': 'base' };
export const java2 = { 'opt/java/bin/java': 'java 21.0.2 PLATFORM', 'opt/java/new.jar': 'only in 21.0.2', 'etc/config': 'newer base' };
const patch = { 'usr/lib/libc.so': 'libc, patched', 'tmp/unused': null };
const app1 = { 'app/main.jar': 'main PLATFORM', 'etc/config': 'application', 'app/build.log': 'log' };
const app2 = { 'app/build.log': null, 'app/run.sh': '#!/bin/sh', 'usr/lib/libc.so': null };
/** More than what may be moved. */
export const large = { 'usr/share/large': Array.from({ length: 20_000 }, (_, index) => digestOf(Buffer.from(`${index}`))).join('') };

const step = (by: string, empty = false) => ({ created: '2026-01-01T00:00:00Z', created_by: by, ...(empty && { empty_layer: true }) });
const oldHistory = [step('ADD os'), step('ADD java 21.0.1'), step('ADD large'), step('ENV JAVA_VERSION=21.0.1', true)];
export const newHistory = [
  step('ADD os'),
  step('ADD large'),
  step('ADD java 21.0.2'),
  step('RUN patch'),
  step('ENV JAVA_VERSION=21.0.2', true),
];
export const appHistory = [step('COPY main.jar'), step('ENTRYPOINT java -jar', true), step('COPY run.sh')];
const oldBase: RealBuild = {
  layers: [os, java1, large],
  created: '2026-01-01T00:00:00Z',
  history: oldHistory,
  config: { Env: ['PATH=/opt/java/bin:/usr/bin', 'JAVA_VERSION=21.0.1'], User: 'app', Labels: { vendor: 'platform team', patch: '1' } },
};
export const newBase: RealBuild = {
  layers: [os, large, java2, patch],
  created: '2026-03-01T00:00:00Z',
  history: newHistory,
  config: {
    Env: ['PATH=/opt/java/bin:/usr/bin', 'JAVA_VERSION=21.0.2', 'NEW=1'],
    User: 'app',
    Labels: { vendor: 'platform team', patch: '2' },
  },
};
export const application: RealBuild = {
  layers: [...oldBase.layers, app1, app2],
  created: '2026-02-01T00:00:00Z',
  history: [...oldHistory, ...appHistory],
  config: {
    Env: ['PATH=/opt/java/bin:/usr/bin', 'JAVA_VERSION=21.0.1', 'APP=web'],
    User: 'app',
    Entrypoint: ['java', '-jar', '/app/main.jar'],
    Labels: { vendor: 'platform team', patch: '1', team: 'shop' },
  },
};

/** The images, and the order to rebase the application through the proxy. */
export interface Pushed {
  /** The repository of the application, in the registry itself. */
  readonly app: string;
  readonly order: RebaseOrder;
  readonly digests: Readonly<Record<'application' | 'oldBase' | 'newBase', string>>;
  readonly layerBytes: number;
}

export type PushJava = (
  change?: Partial<Record<'application' | 'oldBase' | 'newBase', Partial<RealBuild>>>,
  all?: Partial<RealBuild>,
) => Promise<Pushed>;
type Rest = Parameters<PushJava>;
let count = 0;

/** Pushes the application and both bases into repositories of their own. */
export async function pushJava(hosts: { registry: string; proxy: string }, change: Rest[0] = {}, all: Rest[1] = {}): Promise<Pushed> {
  const room = `test-${++count}`;
  const place = (path: string, tag: string) => ({ host: hosts.registry, repository: `${room}/${path}`, tag });
  const old = await pushReal(place('base', '21.0.1'), { ...oldBase, ...all, ...change.oldBase });
  const next = await pushReal(place('base', '21.0.2'), { ...newBase, ...all, ...change.newBase });
  const app = await pushReal(place('web', '1.2.3'), { ...application, ...all, ...change.application });
  const source = (path: string) => ({ registry: hosts.proxy, path: `${room}/${path}` });
  return {
    app: `${hosts.registry}/${room}/web`,
    order: {
      application: { source: source('web'), reference: '1.2.3' },
      oldBases: [{ source: source('base'), reference: '21.0.1' }],
      newBase: { source: source('base'), reference: '21.0.2' },
      tag: '$tag-base.$date',
      date: new Date('2026-11-23T10:00:00Z'),
      allow: [],
      isBaseVerified: true,
      isOldBaseVerified: true,
    },
    digests: { application: app.digest, oldBase: old.digest, newBase: next.digest },
    layerBytes: next.layerBytes,
  };
}

/** The digest of an index under a tag of the application, in the registry itself; null if there is none. */
export async function digestOfTag({ app }: Pushed, tag: string): Promise<string | null> {
  const [host = '', ...path] = app.split('/');
  const headers = { accept: 'application/vnd.oci.image.index.v1+json' };
  const answer = await fetch(`http://${host}/v2/${path.join('/')}/manifests/${tag}`, { method: 'HEAD', headers });
  return answer.headers.get('docker-content-digest');
}
