import { stringify } from 'yaml';
import { normaliseRegistry } from '../../../core/model/image-reference.ts';
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';
import { readDocuments } from '../../manifests/read-documents.ts';
import type { SourceObject } from '../importer.ts';

/** The name of the ConfigMap with the registries of Argo CD Image Updater. */
export const registriesName = 'argocd-image-updater-config';

/** Converts `registries.conf` to the configuration of image-watcher. */
export function convertRegistries(objects: readonly SourceObject[]): string[] {
  return objects
    .filter(({ kind, name }) => kind === 'ConfigMap' && name === registriesName)
    .flatMap(({ value }) => {
      const text = textOrEmpty(fieldsOf(value['data'])['registries.conf']);
      const [document] = readDocuments(text);
      if (document === undefined || 'problems' in document) return [`The registries of ${registriesName} cannot be read.`];
      const { registries } = fieldsOf(document.value);
      const list = Array.isArray(registries) ? registries.map(fieldsOf) : [];
      const settings = list.map(settingsOf).filter((one) => Object.keys(one).length > 1);
      const written = stringify({ registries: settings }, { collectionStyle: 'flow', lineWidth: 0 }).trim();
      return [
        ...(settings.length === 0 ? [] : [`The configuration of image-watcher for the registries of ${registriesName}: ${written}`]),
        ...list.flatMap(notesOn),
      ];
    });
}

function settingsOf(registry: JsonObject): { readonly host: string } & JsonObject {
  const { limit, ca_file: caFile } = registry;
  return {
    host: hostOf(registry),
    ...(textOrEmpty(registry['api_url']).startsWith('http://') && { insecure: true }),
    ...(typeof caFile === 'string' && { caFile }),
    ...(typeof limit === 'number' && { requestsPerSecond: limit }),
  };
}

function hostOf({ prefix }: JsonObject): string {
  return normaliseRegistry(textOrEmpty(prefix));
}

function notesOn(registry: JsonObject): string[] {
  const host = hostOf(registry);
  const url = textOrEmpty(registry['api_url']);
  const api = url === '' ? host : normaliseRegistry(url.slice(url.indexOf('://') + 3).split('/')[0] ?? '');
  const credentials = textOrEmpty(registry['credentials']);
  return [
    ...(credentials === ''
      ? []
      : [
          `${host}: the credentials "${credentials}" belong in the Secret of credentials.secret, or in one that policies name in pullSecrets.`,
        ]),
    ...(api === host ? [] : [`${host}: its API at ${api} has no counterpart; images are read from the host that they name.`]),
    ...(registry['ca_data'] === undefined ? [] : [`${host}: write ca_data into a file, and name it in registries[].caFile.`]),
    ...(registry['insecure'] === true ? [`${host}: certificates are always verified: name its authority in registries[].caFile.`] : []),
    ...(registry['default'] === true && host !== 'docker.io'
      ? [`${host}: a name without a host is one of Docker Hub here, as for Kubernetes.`]
      : []),
  ];
}
