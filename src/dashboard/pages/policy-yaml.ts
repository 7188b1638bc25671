import { stringify } from 'yaml';
import { getResource } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { policyLink } from '../parts/inline.ts';

/** The maximum size of the source of YAML. Writing 64 KB of keys takes 100 ms, in which nothing else is answered. */
const maxYamlSource = 24_576;

/** A policy as the API server has it. A page of its own, so that it is read and written only for those who open it. */
export const policyYaml: Page = {
  path: '/policies/:namespace/:name/yaml',
  section: 'policies',
  async show({ api, params, texts }) {
    const { namespace = '', name = '' } = params;
    const object = await api.read(getResource, params);
    const body = html`
      <p>${policyLink({ namespace, name })}</p>
      ${showYaml(object, { namespace, name })}
    `;
    return { title: `${texts.yaml}: ${namespace}/${name}`, body, isLive: true, follows: { namespace, name } };
  },
};

function showYaml(object: unknown, { namespace, name }: { readonly namespace: string; readonly name: string }): Html {
  const text = JSON.stringify(object).length <= maxYamlSource ? stringify(object) : `kubectl get ipol -n ${namespace} ${name} -o yaml`;
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}
