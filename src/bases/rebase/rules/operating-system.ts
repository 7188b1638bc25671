import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Compares the version of the operating system that an image needs. Only images for Windows name one. */
export const operatingSystem: Rule = {
  id: 'OperatingSystemChanged',
  about: 'The base needs another version or other features of the operating system (`os.version`, `os.features`).',
  check({ oldBase, newBase }) {
    const field = (['os.version', 'os.features'] as const).find((name) => !isSame(oldBase.config[name], newBase.config[name]));
    if (field === undefined) return undefined;
    return `${field} of the base changes from ${shown(oldBase.config[field])} to ${shown(newBase.config[field])}`;
  },
};
