/** How resources name the OCI repository of a chart, and how versions of charts are written as tags. */

/** The maximum length of a text that is read. Resources may contain any text. */
const maxLength = 1024;
const scheme = 'oci://';
const hostPattern = /^(?:[A-Za-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/;

/** How fields beside each other hold a chart or another OCI artifact, which the controller of the resource pulls itself. */
export interface ChartFields {
  /** The field with the name of the chart. If it is set, the field of the repository holds what is before the name, without a scheme. */
  readonly name?: string;
  /** Whether the field holds the version of the chart, in which `+` is no `_`. If `name` is set, it always does. */
  readonly isVersion?: true;
  /** Whether the field holds a digest instead of a tag or a version. */
  readonly isDigest?: true;
  /** Fields that take precedence: while one of them is set, nothing else decides what is pulled. */
  readonly overruledBy?: readonly string[];
}

/**
 * The repository of a chart, as an image name is written: `oci://ghcr.io/charts/web`, or `ghcr.io/charts` and the name `web`, are `ghcr.io/charts/web`. Undefined
 * for any other text, such as the URL of a Git or a Helm repository. The first part is always a host, never a part of a path at Docker Hub.
 */
export function chartRepository(url: string, name: string): string | undefined {
  if (url.length + name.length > maxLength || url.startsWith(scheme) === (name !== '')) return undefined;
  const full = name === '' ? url.slice(scheme.length) : `${url}/${name}`;
  const [host = '', ...path] = full.split('/');
  const isHost = hostPattern.test(host) && (/[.:]/.test(host) || host === 'localhost');
  // Helm, Flux and Argo CD do not complete a single name with `library/`, as container runtimes do.
  const isComplete = path.length > 1 || !host.endsWith('docker.io');
  return isHost && isComplete && path.every((part) => part !== '') && !/[@?#:\s]/.test(path.join('/')) ? full : undefined;
}

/** The tag of a version: `1.2.3_build.1` of `1.2.3+build.1`. OCI tags have no `+`, and versions no `_`. */
export function tagOfVersion(version: string): string {
  return version.replaceAll('+', '_');
}

/** The version that a tag stands for: `1.2.3+build.1` of `1.2.3_build.1`. */
export function versionOfTag(tag: string): string {
  return tag.replaceAll('_', '+');
}
