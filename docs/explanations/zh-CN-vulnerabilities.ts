/** The Chinese texts about vulnerabilities (verify.vulnerabilities); zh-CN.ts has those of all kinds. */
const duration = '时长以 h、m、s 书写，最多 8784h："90s"、"1h30m"。';

export const chineseVulnerabilities: Readonly<Record<string, string>> = {
  'Which images are applied outside of the windows. The image must fix a vulnerability of at least this severity of an image that it replaces, and add none. Needs verify.vulnerabilities; without evidence, the image waits.':
    '哪些镜像可以在窗口之外应用。该镜像必须修复被它替换的镜像中至少为此严重程度的漏洞，且不引入新的此类漏洞。需要 verify.vulnerabilities；没有证据时镜像继续等待。',
  'Which images are applied before they are as old as minAge asks for. The image must fix a vulnerability of at least this severity of an image that it replaces, and add none. Needs verify.vulnerabilities; without evidence, the image waits.':
    '哪些镜像无需等到 minAge 要求的时长即可应用。该镜像必须修复被它替换的镜像中至少为此严重程度的漏洞，且不引入新的此类漏洞。需要 verify.vulnerabilities；没有证据时镜像继续等待。',
  'What is known of the vulnerabilities of the selected image, and of the image that waits.':
    '关于所选镜像以及等待中镜像的漏洞的已知情况。',
  'The tag of the image.': '镜像的标签。',
  'The digest of the image.': '镜像的摘要。',
  'Since when this is known as it is.': '从何时起已知情况如此。',
  'Why its vulnerabilities are not known; absent if they are.': '为什么不知道它的漏洞；已知时没有此字段。',
  'Whose reports count.': '谁的报告算数。',
  'The highest severity of its vulnerabilities; absent if it has none, or if they are not known.':
    '其漏洞的最高严重程度；没有漏洞或未知时没有此字段。',
  'The images that it would replace: the first 5.': '它会替换的镜像：前 5 个。',
  'The image that runs.': '正在运行的镜像。',
  'Its digest.': '它的摘要。',
  'Why the two images cannot be compared; absent if they were.': '为什么无法比较这两个镜像；已比较时没有此字段。',
  'The vulnerabilities that the change fixes: the 10 most severe.': '此变更修复的漏洞：最严重的 10 个。',
  'The vulnerabilities that the change adds: the 10 most severe.': '此变更引入的漏洞：最严重的 10 个。',
  'Its id, such as CVE-2026-1234.': '其编号，例如 CVE-2026-1234。',
  'Its severity.': '其严重程度。',
  'Whether its digest is only what its tag points to now, which whoever may push can move: then what it fixes skips no wait.':
    '它的摘要是否只是其标签现在所指的；可以推送的人都能移动标签，因此此时的修复不能跳过等待。',
  'The vulnerabilities that the change may add, because the image that runs was not scanned for them; absent if there are none.':
    '此变更可能引入的漏洞，因为没有就此扫描过正在运行的镜像；没有时没有此字段。',
  'That the new image has more vulnerabilities; absent if it has not.': '新镜像的漏洞更多；不是更多时没有此字段。',
  'The highest severity from which on the new image has more.': '从哪个最高严重程度起新镜像的漏洞更多。',
  'How many the new image has.': '新镜像有多少个。',
  'How many the running image has.': '正在运行的镜像有多少个。',
  'Whether it would replace more images, which were not compared.': '它是否还会替换其他未比较的镜像。',
  'Evidence that does not count.': '不算数的证据。',
  'A severity; what is more severe is included.': '严重程度；更严重的也包括在内。',
  'Where evidence of the vulnerabilities of an image comes from, and what it must satisfy.': '镜像漏洞的证据来自哪里，以及必须满足什么。',
  'Attestations of cosign about the image (vuln, OpenVEX), signed by one of the keys or one of the keyless signers. Others do not count.':
    '关于该镜像的 cosign 证明（vuln、OpenVEX），由其中一个密钥或无密钥签名者签名。其他证明不算数。',
  'Whether the scanner of Harbor is asked, where the registry of the image is one.': '当镜像所在的仓库是 Harbor 时，是否询问其扫描器。',
  'Whether VulnerabilityReports of Trivy Operator in the namespaces of the targets count. Whoever may write them there decides what they say.':
    '目标所在命名空间中 Trivy Operator 的 VulnerabilityReport 是否算数。谁能在那里写入它们，谁就决定其内容。',
  'How old the scan of an image may be before it is applied; an older one does not count. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `镜像应用之前，其扫描结果最多可以有多旧；更旧的不算数。${duration}`,
  'From this severity on, an image must not have more vulnerabilities than the one that it replaces. An image without evidence is not applied.':
    '从此严重程度起，镜像的漏洞不得多于被它替换的镜像。没有证据的镜像不会被应用。',
  'write cosign, provenance or vulnerabilities, or several of them': '请写 cosign、provenance 或 vulnerabilities，或其中几个',
  'write where evidence comes from: attestations, harbor: true or trivyOperator: true':
    '请写明证据来自哪里：attestations、harbor: true 或 trivyOperator: true',
  'write verify.vulnerabilities: without evidence, minAgeUnless and update.windowsUnless would have no effect':
    '请写 verify.vulnerabilities：没有证据，minAgeUnless 和 update.windowsUnless 不起作用',
  'verify.vulnerabilities is about images: remove it, or artifact': 'verify.vulnerabilities 针对镜像：请去掉它或 artifact',
  'Waits before an update, except for a security fix: an image that fixes a critical vulnerability of what runs is applied at once, also outside of the window. An image with more high or critical vulnerabilities than what runs is not applied. Scans count if the pipelines have signed them, and those of Harbor and of Trivy Operator; the scan of a new image must not be older than three days.':
    '更新前等待，但安全修复除外：修复了正在运行的镜像的严重漏洞的镜像会立即应用，在窗口之外也是如此。高危或严重漏洞多于正在运行的镜像的镜像不会被应用。由流水线签名的扫描算数，Harbor 和 Trivy Operator 的扫描也算数；新镜像的扫描不得早于三天之前。',
};
