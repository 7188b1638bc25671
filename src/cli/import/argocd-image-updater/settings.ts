/** How an image is updated, by the annotations of an Application or by an ImageUpdater. */
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';

/** The settings of one image. */
export interface ImageSettings {
  readonly alias: string;
  /** Without the version constraint. */
  readonly image: string;
  /** What is behind the name: a constraint, or the tag that is followed. */
  readonly constraint: string;
  readonly strategy: string;
  readonly allowTags: string;
  readonly ignoreTags: readonly string[];
  readonly pullSecret: string;
  readonly platforms: readonly string[];
  readonly forceUpdate: boolean;
  readonly helm: { readonly name: string; readonly tag: string; readonly spec: string };
  readonly kustomizeName: string;
  readonly usesPlugin: boolean;
  readonly verification: JsonObject;
}

/** How the Application is written: by Argo CD's API, or to Git. */
export interface WriteBack {
  readonly usesGit: boolean;
  /** Where somebody merges: a pull request, or a branch of its own. */
  readonly isMerged: boolean;
}

/** The settings of all images of one Application. */
export interface ApplicationSettings {
  readonly images: readonly ImageSettings[];
  readonly writeBack: WriteBack;
}

const prefix = 'argocd-image-updater.argoproj.io/';

/** Undefined without the annotation image-list. */
export function readAnnotations(annotations: Readonly<Record<string, string>>): ApplicationSettings | undefined {
  const read = (key: string) => annotations[`${prefix}${key}`]?.trim() ?? '';
  const list = read('image-list');
  if (list === '') return undefined;
  const images = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry): ImageSettings => {
      const equals = entry.indexOf('=');
      const alias = equals === -1 ? '' : entry.slice(0, equals).trim();
      // A slash of the alias is an underscore in annotations.
      const own = (key: string) => (alias === '' ? '' : read(`${alias.replaceAll('/', '_')}.${key}`));
      const either = (key: string) => own(key) || read(key);
      return {
        alias,
        ...splitName(entry.slice(equals + 1).trim()),
        strategy: either('update-strategy'),
        allowTags: either('allow-tags'),
        ignoreTags: listOf(either('ignore-tags')),
        pullSecret: either('pull-secret'),
        platforms: listOf(own('platforms')),
        forceUpdate: either('force-update') === 'true',
        helm: { name: own('helm.image-name'), tag: own('helm.image-tag'), spec: own('helm.image-spec') },
        kustomizeName: own('kustomize.image-name'),
        usesPlugin: false,
        verification: {},
      };
    });
  const branch = read('git-branch');
  const usesGit = read('write-back-method').startsWith('git');
  return { images, writeBack: { usesGit, isMerged: usesGit && branch.includes(':') } };
}

/** The settings of one entry of `applicationRefs`, with those of the ImageUpdater that it does not override. */
export function readReference(spec: JsonObject, reference: JsonObject): ApplicationSettings {
  const layers = [spec, reference];
  const images: readonly unknown[] = Array.isArray(reference['images']) ? reference['images'] : [];
  const writeBack = merge(layers, 'writeBackConfig');
  const git = {
    ...fieldsOf(fieldsOf(spec['writeBackConfig'])['gitConfig']),
    ...fieldsOf(fieldsOf(reference['writeBackConfig'])['gitConfig']),
  };
  const usesGit = textOrEmpty(writeBack['method']).startsWith('git');
  return {
    images: images.map((image) => readImage(fieldsOf(image), layers)),
    writeBack: { usesGit, isMerged: usesGit && (git['pullRequest'] !== undefined || textOrEmpty(git['branch']).includes(':')) },
  };
}

function readImage(image: JsonObject, layers: readonly JsonObject[]): ImageSettings {
  const settings = merge([...layers, image], 'commonUpdateSettings');
  const targets = fieldsOf(image['manifestTargets']);
  const helm = fieldsOf(targets['helm']);
  return {
    alias: text(image['alias']),
    ...splitName(text(image['imageName'])),
    strategy: text(settings['updateStrategy']),
    allowTags: text(settings['allowTags']),
    ignoreTags: textsIn(settings['ignoreTags']),
    pullSecret: text(settings['pullSecret']),
    platforms: textsIn(settings['platforms']),
    forceUpdate: settings['forceUpdate'] === true,
    helm: { name: text(helm['name']), tag: text(helm['tag']), spec: text(helm['spec']) },
    kustomizeName: text(fieldsOf(targets['kustomize'])['name']),
    usesPlugin: targets['plugin'] !== undefined,
    verification: merge([...layers, image], 'imagesVerification'),
  };
}

function text(value: unknown): string {
  return textOrEmpty(value).trim();
}

/** The fields of the later layers come before those of the earlier ones. */
function merge(layers: readonly JsonObject[], field: string): JsonObject {
  return Object.assign({}, ...layers.map((layer) => fieldsOf(layer[field]))) as JsonObject;
}

/** A constraint such as `~1.26` is no tag, so the name is not read as an image with a tag. */
function splitName(text: string): Pick<ImageSettings, 'image' | 'constraint'> {
  const colon = text.lastIndexOf(':');
  const hasConstraint = colon > text.lastIndexOf('/');
  return hasConstraint ? { image: text.slice(0, colon), constraint: text.slice(colon + 1).trim() } : { image: text, constraint: '' };
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Also of a text with commas, as the documentation writes it in places. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return listOf(value);
  return Array.isArray(value) ? value.filter((part): part is string => typeof part === 'string' && part !== '') : [];
}
