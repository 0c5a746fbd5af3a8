/// What is the same on every report: the look, and the script that shows the items.
enum ReportTemplate {
  static let head = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>nuthatch prefetch</title>
    <link rel="icon" href="data:,">
    <style>
    :root { color-scheme: light dark; --ground: light-dark(#f6f5f2, #16181b); --card: light-dark(#fff, #202429);
      --ink: light-dark(#1d2226, #e8e6e1); --soft: light-dark(#6a7075, #9aa1a8); --line: light-dark(#e2dfd8, #31363c);
      --accent: light-dark(#2d6a8f, #7fc0e6); --bad: light-dark(#b3402e, #f08a76); --good: light-dark(#3d7a4a, #8ccf9b);
      --wait: light-dark(#b08431, #e3bd6f); }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
    main { max-width: 84rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
    h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
    .soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0; }
    .tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .7rem .9rem; }
    .tile b { display: block; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
    .bar { display: flex; height: 10px; border-radius: 5px; overflow: hidden; background: var(--line); }
    .filters { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem; padding: .7rem 0;
      background: var(--ground); align-items: center; }
    select, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
      border-radius: 8px; padding: .35rem .6rem; max-width: 100%; min-width: 0; }
    input { flex: 1 1 10rem; }
    .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .7rem; }
    figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden;
      content-visibility: auto; contain-intrinsic-size: 9.5rem 12rem; }
    figure a { display: grid; place-items: center; position: relative; aspect-ratio: 4 / 3; text-decoration: none; color: var(--soft);
      background: repeating-conic-gradient(#8881 0 25%, #0000 0 50%) 0 0 / 16px 16px; }
    figure img { position: absolute; width: 100%; height: 100%; object-fit: contain; display: block; }
    figcaption { padding: .4rem .6rem .5rem; font-size: .8rem; line-height: 1.35; }
    figcaption div { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .dot { display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .35em; }
    .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
    table { border-collapse: collapse; width: 100%; font-size: .85rem; }
    th, td { text-align: left; padding: .4rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    tr:last-child td { border-bottom: 0; }
    td.url { overflow-wrap: anywhere; min-width: 14rem; } th.n { text-align: right; } td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
    a { color: var(--accent); } button { font: inherit; padding: .4rem 1rem; border-radius: 8px; margin: 1rem 0;
      border: 1px solid var(--line); background: var(--card); color: inherit; cursor: pointer; }
    </style>
    <main>
    <header><h1>nuthatch prefetch</h1><div class="soft" id="line"></div></header>
    <section class="tiles" id="tiles"></section>
    <section id="timing"></section>
    <nav class="filters">
    <select id="state" aria-label="state"></select><select id="reason" aria-label="reason"></select>
    <select id="host" aria-label="host"></select>
    <input id="text" type="search" placeholder="part of the URL" aria-label="part of the URL">
    <span class="soft" id="count"></span></nav>
    <section class="grid" id="grid"></section><button id="more" hidden>more</button>
    <section id="failures" hidden><h2>Failures</h2><div class="scroll"><table><thead>
    <tr><th>reason<th>URL<th>what happened<th>what to do<th>tries</tr></thead><tbody id="rows"></tbody></table></div>
    <button id="moreRows" hidden>more</button></section>
    </main>

    """

  static let script = #"""
    const $ = id => document.getElementById(id);
    const colours = {hit: 'var(--good)', fetched: 'var(--accent)', revalidated: 'var(--wait)', failed: 'var(--bad)'};
    const advice = {
      timeout: 'Try again later, or allow more with --timeout and --deadline.',
      dns: 'Check the host name; no address is known for it.', refused: 'Nothing answers there: try again later.',
      reset: 'The connection broke: try again, perhaps with a lower --per-host.',
      tls: 'The certificate or the handshake is not right; the site has to mend it.',
      http: 'The server gives no picture: check the URL; 401 and 403 may want --header or --user-agent; 429 a --rate.',
      too_large: 'Allow more with --max-bytes.', too_many_pixels: 'Allow more with --max-pixels.',
      not_an_image: 'The URL leads to a page or text, not to a picture.',
      unsupported_format: 'JPEG and PNG are decoded; ask the server for one of them.',
      corrupt: 'The file is damaged; --allow-truncated takes what can be decoded.',
      truncated: 'The file ends too early; --allow-truncated takes what can be decoded.',
      denied: 'The address or the site is not to be used: see --allow-private and --respect-noai.',
      bad_url: 'Mend the URL in the list.', bad_header: 'Mend what --header says.',
      too_many_redirects: 'The server sends requests round in circles.', offline: 'Run without --policy offline.',
      circuit_open: 'The host failed too often: try again later.', no_space: 'Make room on the disk.',
      io: 'See whether the cache directory can be written.', out_of_memory: 'Lower --concurrency.'};
    const element = (name, attributes = {}, ...children) => {
      const made = Object.assign(document.createElement(name), attributes);
      made.append(...children.filter(child => child != null));
      return made;
    };
    const grouped = n => Math.round(n).toLocaleString('en');
    const sized = n => { let i = 0; for (; n >= 999.5 && i < 4; i++) n /= 1000;
      return (i && n < 9.95 ? n.toFixed(1) : Math.round(n)) + ' ' + ['B', 'kB', 'MB', 'GB', 'TB'][i]; };
    const time = ms => ms < 9.95 ? ms.toFixed(1) + ' ms' : ms < 1000 ? Math.round(ms) + ' ms' : (ms / 1000).toFixed(1) + ' s';
    // Only what a browser would fetch over HTTP becomes a link.
    const linked = (item, ...children) => element('a', /^https?:/i.test(item.url)
      ? {href: item.url, target: '_blank', rel: 'noreferrer', title: item.url} : {title: item.url}, ...children);

    items.sort((a, b) => a.i - b.i);
    $('line').textContent = `${grouped(summary.urls)} URLs in ${time(summary.seconds * 1000)}, ${sized(summary.bytes)} received`
      + (summary.interrupted ? ', interrupted' : '') + (items.length < summary.urls ? `; ${grouped(items.length)} are shown here` : '');
    const tile = (value, name, style = '') => $('tiles').append(element('div', {className: 'tile'},
      element('b', {textContent: value, className: style}), element('span', {className: 'soft', textContent: name})));
    tile(grouped(summary.hits), 'in the cache before', 'good');
    tile(grouped(summary.fetched), 'fetched');
    if (summary.revalidated) tile(grouped(summary.revalidated), 'still held');
    tile(grouped(summary.failed), 'failed', summary.failed ? 'bad' : '');
    tile(grouped(summary.rate), 'URLs a second');
    if (summary.disk) tile(sized(summary.disk.used), `of ${sized(summary.disk.limit)} on disk`, summary.disk.fits ? '' : 'bad');

    const phases = ['queue', 'dns', 'connect', 'tls', 'first_byte', 'transfer', 'store', 'decode'];
    const asked = items.filter(item => item.attempts > 0 && !item.error);
    if (asked.length) {
      const means = phases.map(name => asked.reduce((sum, item) => sum + item.ms[name], 0) / asked.length);
      const whole = means.reduce((a, b) => a + b, 0) || 1;
      const hues = [250, 200, 180, 150, 95, 60, 30, 330];
      const colour = n => `oklch(70% .11 ${hues[n]})`;
      const bar = element('div', {className: 'bar'}), key = element('div', {className: 'soft'});
      means.forEach((mean, n) => {
        const part = element('span', {title: `${phases[n]} ${time(mean)}`});
        part.style.cssText = `width:${100 * mean / whole}%;background:${colour(n)}`;
        bar.append(part);
        const dot = element('span', {className: 'dot'});
        dot.style.background = colour(n);
        key.append(dot, `${phases[n].replace('_', ' ')} ${time(mean)}   `);
      });
      $('timing').append(element('h2', {textContent: 'Where the time went, mean of what was fetched'}), bar, key);
    }
    if (summary.slowest_hosts.length > 1) {
      const rows = summary.slowest_hosts.map(host => element('tr', {}, element('td', {textContent: host.host}),
        element('td', {className: 'n', textContent: grouped(host.urls)}), element('td', {className: 'n', textContent: grouped(host.failed)}),
        element('td', {className: 'n', textContent: time(host.mean_ms)}), element('td', {className: 'n', textContent: time(host.longest_ms)})));
      const head = element('tr', {}, ...['slowest hosts', 'URLs', 'failed', 'mean', 'longest'].map((text, n) => element('th', {textContent: text, className: n ? 'n' : ''})));
      $('timing').append(element('br'), element('div', {className: 'scroll'}, element('table', {}, head, ...rows)));
    }

    const choices = (id, name, value) => {
      const counts = new Map();
      for (const item of items) if (value(item)) counts.set(value(item), (counts.get(value(item)) || 0) + 1);
      $(id).append(element('option', {value: '', textContent: `every ${name}`}));
      for (const [key, n] of [...counts].sort((a, b) => b[1] - a[1]).slice(0, 500))
        $(id).append(element('option', {value: key, textContent: `${key} (${grouped(n)})`}));
      if (!counts.size) $(id).hidden = true;
      $(id).onchange = show;
    };
    const figure = item => {
      const dot = element('span', {className: 'dot', title: item.state});
      dot.style.background = colours[item.state];
      const name = item.url.replace(/[?#].*/, '').split('/').pop() || item.host;
      const picture = item.thumb ? element('img', {src: item.thumb, alt: '', loading: 'lazy', decoding: 'async'}) : 'open';
      return element('figure', {}, linked(item, picture), element('figcaption', {},
        element('div', {title: item.url}, dot, name),
        element('div', {className: 'soft', textContent: `${item.w}×${item.h} · ${item.bytes == null ? '' : sized(item.bytes) + ' · '}${time(item.ms.total)}`})));
    };
    const row = item => element('tr', {}, element('td', {className: 'bad', textContent: item.error}),
      element('td', {className: 'url'}, linked(item, item.url), element('div', {className: 'soft', textContent: `line ${item.line}`})),
      element('td', {textContent: item.message.replace(': ' + item.url, '')}),
      element('td', {className: 'soft', textContent: advice[item.error] || ''}), element('td', {className: 'n', textContent: item.attempts}));
    const pages = (list, place, button, make, step) => {
      let next = 0;
      place.replaceChildren();
      const more = () => {
        place.append(...list.slice(next, next += step).map(make));
        button.hidden = next >= list.length;
      };
      button.onclick = more;
      more();
    };
    function show() {
      const [state, reason, host, text] = ['state', 'reason', 'host', 'text'].map(id => $(id).value);
      const list = items.filter(item => (!state || item.state == state) && (!reason || item.error == reason)
        && (!host || item.host == host) && (!text || item.url.toLowerCase().includes(text.toLowerCase())));
      const [good, bad] = [list.filter(item => !item.error), list.filter(item => item.error)];
      pages(good, $('grid'), $('more'), figure, 500);
      pages(bad, $('rows'), $('moreRows'), row, 200);
      $('failures').hidden = !bad.length;
      $('count').textContent = `${grouped(good.length)} pictures, ${grouped(bad.length)} failures`;
    }
    choices('state', 'state', item => item.state);
    choices('reason', 'reason', item => item.error);
    choices('host', 'host', item => item.host);
    $('text').oninput = show;
    // A page can be linked to as it is filtered: report.html#state=failed&host=example.org
    for (const [id, value] of new URLSearchParams(location.hash.slice(1)))
      if (['state', 'reason', 'host', 'text'].includes(id)) $(id).value = value;
    show();

    """#
}
