/** What is said about vulnerabilities of images, in Chinese. */
export const vulnerabilitiesZh: Readonly<Record<string, string>> = {
  '{0} could not be asked: {1}': '无法询问 {0}：{1}',
  '{0}: write keys, keyless or both': '{0}：请写 keys、keyless 或两者',
  'write cosign, provenance or vulnerabilities, or several of them': '请写 cosign、provenance 或 vulnerabilities，可以写多项',
  'write where evidence comes from: attestations, harbor: true or trivyOperator: true':
    '请写明证据来自何处：attestations、harbor: true 或 trivyOperator: true',
  'write verify.vulnerabilities: without evidence, minAgeUnless and update.windowsUnless would have no effect':
    '请写 verify.vulnerabilities：没有证据时，minAgeUnless 和 update.windowsUnless 不起作用',
  'verify.vulnerabilities is about images: remove it, or artifact': 'verify.vulnerabilities 针对镜像：请删除它，或删除 artifact',
  'nothing reports its vulnerabilities': '没有任何来源报告它的漏洞',
  'no report of its vulnerabilities counts': '关于其漏洞的报告都不算数',
  'no report of its vulnerabilities counts: {0}': '关于其漏洞的报告都不算数：{0}',
  'its digest is not known': '它的摘要未知',
  'it was scanned by {0}, and the new image by {1}': '它由 {0} 扫描，而新镜像由 {1} 扫描',
  '{0} is in the future': '{0} 的时间在将来',
  '{0} is older than {1} (verify.vulnerabilities.maxAge)': '{0} 早于 {1} 之前（verify.vulnerabilities.maxAge）',
  'its vulnerabilities were not assessed yet': '它的漏洞尚未评估',
  'it adds {0}': '它新增了 {0}',
  'it fixes {0}': '它修复了 {0}',
  'it fixes no vulnerability that is {0}': '它没有修复 {0} 的漏洞',
  'it cannot be compared with {0}: {1}': '它无法与 {0} 比较：{1}',
  'it was not compared with {0}': '它没有与 {0} 比较',
  'it replaces too many images to compare it with all of them': '它会替换的镜像过多，无法全部比较',
  '{0} or above': '{0} 及以上',
  'it did not wait for {0}: {1}': '它没有等待 {0}：{1}',
  '{0}; it does not skip that wait: {1}': '{0}；它不能跳过这一等待：{1}',
  '{0}. It does not skip that wait: {1}': '{0}。它不能跳过这一等待：{1}',
  '{0}: it adds {1}': '{0}：它增加 {1}',
  '1 vulnerability that is {0}': '1 个级别为 {0} 的漏洞',
  '{0} vulnerabilities that are {1}': '{0} 个级别为 {1} 的漏洞',
  'it has {0}, and {1} has {2}': '它有 {0}，而 {1} 有 {2} 个',
  'when evidence of its vulnerabilities is read again; "image-watcher release" applies it without':
    '届时会再次读取关于其漏洞的证据；“image-watcher release”会在没有证据的情况下应用它',
  'a release: annotation {0}: "<time>"': '放行：注解 {0}: "<time>"',
  '{0} is not applied: {1}. Push a better image, or apply it all the same by {2}':
    '{0} 不会被应用：{1}。请推送更好的镜像，或仍然应用它：{2}',
  '{0} is not applied while its vulnerabilities are not known (verify.vulnerabilities): {1}. It can be applied all the same by {2}':
    '在其漏洞未知时不会应用 {0}（verify.vulnerabilities）：{1}。仍然可以应用它：{2}',
};
