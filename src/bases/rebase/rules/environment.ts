import type { Texts } from '../content.ts';
import { variables } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Variables that decide which programs run and how. Version variables are not among them, because they change with each patch. */
const decisive =
  /^(?:PATH|.*_HOME|.*_OPTS|.*_OPTIONS|LD_.*|MALLOC_.*|GLIBC_TUNABLES|JAVA_.*|JDK_.*|CLASSPATH|NODE_.*|NPM_CONFIG_.*|PYTHON.*|PIP_.*|RUBY(?:LIB|OPT)|GEM_.*|BUNDLE_.*|PERL5.*|PHP_INI_.*|PHPRC|GO(?:DEBUG|GC|MEMLIMIT)|DOTNET_.*|ASPNETCORE_.*|COMPlus_.*|COR_.*|CORECLR_.*|(?:HTTPS?|ALL|NO)_PROXY|(?:https?|all|no)_proxy|SSL_CERT_.*|OPENSSL_.*|BASH_ENV|ENV)$/;
const harmless = /_VERSION$|^PYTHON_(?:SHA256|GET_PIP_.*|PIP_.*|SETUPTOOLS_.*)$|^GPG_KEYS?$/;
/** The minimum length of a value to search for in others: shorter ones are contained by chance. */
const minContained = 4;

/** Compares the environment variables of containers. */
export const environment: Rule = {
  id: 'EnvironmentChanged',
  about:
    'A variable that the application takes over is removed, a decisive one (`PATH`, `*_HOME`, `LD_*`, `JAVA_*`, `*_OPTIONS` and the like, but not versions) has another value, or the application has built a value of its own from one that changes. Additions to `PATH` are accepted.',
  check({ application, oldBase, newBase }) {
    const [own = {}, before = {}, after = {}] = [application, oldBase, newBase].map(({ config }) => variables(config.config?.Env));
    const isInherited = (name: string) => own[name] === before[name];
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [old, next] = [before[name], after[name]];
      if (old === next) continue;
      const what = `the variable ${shown(name)} of the base`;
      if (old !== undefined && old.length >= minContained) {
        const built = Object.entries(own).find(
          ([other, value]) => value.includes(old) && !(other === name && isInherited(name)) && isOwn(other, value, before),
        );
        if (built !== undefined && !(name === 'PATH' && isExtended(old, next))) {
          return `${what} changes from ${shown(old)} to ${shown(next)}, and the application has set ${shown(built[0])} to ${shown(built[1])}, which contains it`;
        }
      }
      if (!isInherited(name)) continue;
      if (next === undefined) return `${what} is removed; it was ${shown(old)}`;
      if (!decisive.test(name) || harmless.test(name) || (name === 'PATH' && isExtended(old, next))) continue;
      return old === undefined ? `${what} is new: ${shown(next)}` : `${what} changes from ${shown(old)} to ${shown(next)}`;
    }
    return undefined;
  },
};

function isOwn(name: string, value: string, before: Texts): boolean {
  return before[name] !== value;
}

/** Whether a path has all folders of another one in their order. */
function isExtended(old: string | undefined, next: string | undefined): boolean {
  const rest = (next ?? '').split(':')[Symbol.iterator]();
  return (old ?? '').split(':').every((folder) => {
    for (const candidate of rest) if (candidate === folder) return true;
    return false;
  });
}
