/** The images of the scenario `base`: a Java in two lines of versions, a framework on it, and applications on each of them. */
import { pushReal, type Files, type RealImage } from '../bases/rebase/build.ts';

export const java = 'library/base-java';
export const framework = 'library/framework';

/** What an application is built on; `alpine` is another line of the versions of Java. */
export type Foundation = 'java' | 'alpine' | 'framework' | 'other';

const debian = { 'etc/os-release': 'Debian 13', 'usr/lib/libc.so': 'libc' };
const alpine = { 'etc/os-release': 'Alpine 3.22', 'lib/ld-musl-x86_64.so.1': 'musl' };
const library = { 'opt/framework/lib.jar': 'framework 3.1.0' };

const step = (by: string) => ({ created: '2026-01-01T00:00:00Z', created_by: by });
const isAlpine = (version: string) => version.endsWith('-alpine');

/** The Java of a version: the system and the Java itself. */
const javaLayers = (version: string) => [isAlpine(version) ? alpine : debian, { 'opt/java/bin/java': `java ${version}` }];
const layersOf: Readonly<Record<Foundation, readonly Files[]>> = {
  java: javaLayers('21.0.1'),
  alpine: javaLayers('21.0.1-alpine'),
  framework: [...javaLayers('21.0.1'), library],
  other: [{ 'usr/bin/proxy': 'proxy' }],
};

/** The variable of the configuration that says which Java is in an image. */
export const variableOf = (version: string) => `JAVA_VERSION=${version.replace('-alpine', '')}`;
const configOf = (version: string) => ({ Env: ['PATH=/opt/java/bin:/usr/bin', variableOf(version)], User: 'app' });

/** Pushes a version of Java, as its vendor does. */
export function pushJava(host: string, version: string): Promise<RealImage> {
  const history = [step(`ADD ${isAlpine(version) ? 'alpine' : 'debian'}`), step(`ADD java ${version}`)];
  const build = { platforms: ['linux/amd64'], layers: javaLayers(version), created: '2026-01-01T00:00:00Z', history };
  return pushReal({ host, repository: java, tag: version }, { ...build, config: configOf(version) });
}

/** Pushes the framework 3.1.0, which is built on Java 21.0.1. */
export function pushFramework(host: string): Promise<RealImage> {
  return pushOn(host, framework, '3.1.0', layersOf.framework, {});
}

/** Pushes `shop/NAME`. */
export function pushApplication(host: string, name: string, foundation: Foundation, tag = '1.0.0'): Promise<RealImage> {
  const layers = [...layersOf[foundation], { [`app/${name}.jar`]: `the application ${name} ${tag}` }];
  return pushOn(host, `shop/${name}`, tag, layers, { Cmd: ['java', '-jar', `/app/${name}.jar`] });
}

function pushOn(host: string, repository: string, tag: string, layers: readonly Files[], config: object): Promise<RealImage> {
  const history = layers.map((_, index) => step(`ADD layer ${index}`));
  const build = { platforms: ['linux/amd64'], layers, created: '2026-02-01T00:00:00Z', history };
  return pushReal({ host, repository, tag }, { ...build, config: { ...configOf('21.0.1'), ...config } });
}
