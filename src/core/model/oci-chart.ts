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
  /** The kind of object that holds the URL, where the field of the repository holds only the name of that object. */
  readonly source?: ChartSource;
}

/** An object that holds the URL of a repository of charts, and the fields with which resources refer to it. It is only read. */
export interface ChartSource {
  readonly apiVersion: string;
  readonly kind: string;
  /** The fields of the resource that hold the kind and the namespace of the object. */
  readonly kindField: string;
  readonly namespaceField: string;
  /** The fields of the object that hold the URL and its type, which must be `oci`. */
  readonly urlField: string;
  readonly typeField: string;
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

/** The repository of a chart below the URL of a source, which begins with a scheme: `oci://ghcr.io/charts` and `web` are `ghcr.io/charts/web`. */
export function chartOfSource(url: string, name: string): string | undefined {
  return name === '' ? undefined : chartRepository(`${url.endsWith('/') ? url.slice(0, -1) : url}/${name}`, '');
}

/** The tag of a version: `1.2.3_build.1` of `1.2.3+build.1`. OCI tags have no `+`, and versions no `_`. */
export function tagOfVersion(version: string): string {
  return version.replaceAll('+', '_');
}

/** The version that a tag stands for: `1.2.3+build.1` of `1.2.3_build.1`. */
export function versionOfTag(tag: string): string {
  return tag.replaceAll('_', '+');
}
