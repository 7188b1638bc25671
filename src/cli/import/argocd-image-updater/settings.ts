/** The update settings of images, in annotations of an Application or in an ImageUpdater. */
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';

/** The settings of one image. */
export interface ImageSettings {
  readonly alias: string;
  /** The name of the image without the version constraint. */
  readonly image: string;
  /** The text after the name: a version constraint, or the tag that is followed. */
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

/** How changes reach the Application: through Argo CD's API, or through Git. */
export interface WriteBack {
  readonly usesGit: boolean;
  /** Whether somebody has to merge a change: a pull request, or a separate branch. */
  readonly isMerged: boolean;
}

/** The settings of all images of one Application. */
export interface ApplicationSettings {
  readonly images: readonly ImageSettings[];
  readonly writeBack: WriteBack;
}

const prefix = 'argocd-image-updater.argoproj.io/';

/** The settings in annotations; undefined without the annotation image-list. */
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
      // In the names of annotations, a slash of the alias is an underscore.
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

/** The settings of one entry of `applicationRefs`. Settings of the ImageUpdater apply unless the entry overrides them. */
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

/** Merges a field of several layers. Later layers have precedence. */
function merge(layers: readonly JsonObject[], field: string): JsonObject {
  return Object.assign({}, ...layers.map((layer) => fieldsOf(layer[field]))) as JsonObject;
}

/** Splits the name of an image from its constraint. A constraint such as `~1.26` is not a tag, so the text is not an image reference. */
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

/** The texts of a list, also if it is one text with commas, as in some places of the documentation. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return listOf(value);
  return Array.isArray(value) ? value.filter((part): part is string => typeof part === 'string' && part !== '') : [];
}
