/// The script of the report: filters, failures by reason, timings, the grid, and a dialog with details of a picture.
///
/// It creates elements and sets text, and never parses HTML. So no text from a server or a list can become HTML.
enum ReportScript {
  static let text = #"""

    'use strict';
    const $ = id => document.getElementById(id);
    const advice = {
      timeout: 'Try again later, or allow more with --timeout and --deadline.',
      dns: 'The host has no address: check its name.',
      refused: 'No server listens at this address: try again later.',
      reset: 'The connection broke: try again, perhaps with a lower --per-host.',
      tls: 'The certificate is wrong or the handshake failed: the site has to correct that.',
      http: 'The server sends no picture: check the URL.',
      too_large: 'Allow more with --max-bytes.',
      too_many_pixels: 'Allow more with --max-pixels, or more memory to the process: the message says which.',
      not_an_image: 'The URL leads to a page or to text, not to a picture.',
      unsupported_format: 'JPEG, PNG, GIF, WebP, AVIF, BMP and ICO are decoded, SVG and HEIC with librsvg and libheif: see the message.',
      decoder_failed: 'The decoder ended: try again later.',
      corrupt: 'The file is damaged: use the part that can be decoded with --allow-damaged.',
      truncated: 'The file ends too early: try again, or use the part that came with --allow-damaged.',
      denied: 'The address or the site is forbidden: see --addresses and --respect-noai.',
      bad_url: 'Correct the URL in the list.', bad_header: 'Correct the value of --header.',
      too_many_redirects: 'The redirects do not end: check the URL in a browser.',
      offline: 'It is not in the cache: run without --policy offline.',
      circuit_open: 'The host failed too often in a row: try again later.',
      cancelled: 'The run ended too early: run it again.', closed: 'The run ended too early: run it again.',
      wrong_format: 'The answer has an unexpected format: check the URL.',
      forked: 'A defect: please report it.', invalid: 'A defect: please report it.', internal: 'A defect: please report it.',
      frozen: 'The request waits for the network: run again when there is one.',
      busy: 'Another process holds the lock of the cache. Check whether the process that the message names hangs or is suspended (Ctrl-Z).',
      unsafe_file: 'Other users may have made or changed the file that the message names: check its owner (ls -l), and forbid others to write it (chmod go-w).',
      secret_needs_provider: 'Give the credentials with --user or --header.',
      conflict: 'The cache is open elsewhere with other options: leave them out here.',
      no_space: 'Make room on the disk, or use another disk with --cache.',
      io: 'Check whether the cache directory can be read and written.', out_of_memory: 'Lower --concurrency.'};
    const adviceByStatus = {
      400: 'The server does not understand the URL: check it.', 401: 'The server needs credentials: --user or --header.',
      403: 'The server refuses: it may need --header or another --user-agent.',
      404: 'The server has no such file: check the URL, or remove it from the list.',
      410: 'The file was removed: remove the URL from the list.', 429: 'Too many requests: lower --rate and --per-host, and try again later.',
      500: 'The server has an error: try again later.', 502: 'The server has an error: try again later.',
      503: 'The server is busy: try again later, with a lower --rate.', 504: 'The server has an error: try again later.'};
    const states = {hit: 'hit', fetched: 'fetched', revalidated: 'revalidated', failed: 'failed'};
    const meanings = {hit: 'in the cache before', fetched: 'fetched', revalidated: 'revalidated, unchanged', failed: 'failed'};

    const element = (name, attributes = {}, ...children) => {
      const made = document.createElement(name);
      for (const [key, value] of Object.entries(attributes))
        if (key.startsWith('aria-') || key == 'role') made.setAttribute(key, value); else made[key] = value;
      made.append(...children.filter(child => child != null));
      return made;
    };
    const grouped = n => Math.round(n).toLocaleString('en');
    const many = (n, one, more) => `${grouped(n)} ${n == 1 ? one : more}`;
    const sized = n => { let i = 0; for (; n >= 999.5 && i < 4; i++) n /= 1000;
      return (i && n < 9.95 ? n.toFixed(1) : Math.round(n)) + ' ' + ['B', 'kB', 'MB', 'GB', 'TB'][i]; };
    const time = ms => ms < .05 ? '0 ms' : ms < 9.95 ? ms.toFixed(1) + ' ms' : ms < 1000 ? Math.round(ms) + ' ms'
      : ms < 59950 ? (ms / 1000).toFixed(1) + ' s' : `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
    const dot = state => element('span', {className: `dot s-${state}`});
    // Only a complete HTTP URL becomes a link.
    const isCut = url => url.endsWith('…');
    const isHTTP = url => { try { return /^https?:$/.test(new URL(url).protocol); } catch { return false; } };
    const linked = (url, text, more = {}) => isHTTP(url) && !isCut(url)
      ? element('a', {href: url, target: '_blank', rel: 'noopener noreferrer', textContent: text, ...more}) : element('span', {textContent: text});

    // Characters that change the direction of text can make one name look like another. Show them percent-encoded, as in a URL.
    const plain = text => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, encodeURIComponent);

    // Shortens a long URL.
    const short = url => url.length > 300 ? url.slice(0, 300) + '…' : url;

    // Remove the URL at the end of a message: it stands above the message already. It may be encoded in another way there.
    const spelt = url => { try { return decodeURI(new URL(url).href); } catch { return url; } };
    const told = item => {
      const at = item.message.search(/: https?:\/\/\S*$/);
      const url = item.message.slice(at + 2), begun = isCut(url) ? url.slice(0, -1) : url;
      const isSame = isCut(url) ? item.url.startsWith(begun) || spelt(item.url).startsWith(spelt(begun)) : spelt(url) == spelt(item.url);
      return at >= 0 && isSame ? item.message.slice(0, at) : item.message;
    };

    // Names of options must not be broken into two lines.
    const advised = text => text.split(/(--[a-z-]+)/).map((part, n) => n % 2 ? element('span', {className: 'option', textContent: part}) : part);

    // Each line is an item. The text after its tabulator is the picture. It stays text until it is shown.
    const items = [];
    for (const line of $('items').textContent.split('\n')) {
      if (!line) continue;
      const tab = line.indexOf('\t'), item = JSON.parse(plain(tab < 0 ? line : line.slice(0, tab)));
      if (tab >= 0) item.thumb = line.slice(tab + 1);
      item.reason = item.error && (item.status ? `${item.error} ${item.status}` : item.error);
      item.name = item.url.startsWith('data:') ? item.url.split(',')[0] : item.url.replace(/[?#].*/s, '').split('/').pop() || item.host || item.url;
      items.push(item);
    }
    $('items').remove();
    items.sort((a, b) => a.i - b.i);
    const summary = JSON.parse(plain($('summary').textContent));

    // The run.
    const made = new Date(summary.made * 1000);
    $('line').append(`${many(summary.urls, 'URL', 'URLs')} in ${time(summary.seconds * 1000)}, `,
      element('time', {dateTime: made.toISOString(), textContent: made.toLocaleString()}), ` · nuthatch ${summary.version}`);
    const notes = [];
    if (summary.interrupted) notes.push('The run was interrupted: run it again to continue.');
    if (summary.list_fault) notes.push(`The list could not be read to its end: ${summary.list_fault}`);
    if (items.length < summary.urls) notes.push(`This page shows ${grouped(items.length)} of ${grouped(summary.urls)} URLs: those that ended first.`);
    const bare = items.filter(item => !item.error && !item.thumb).length;
    if (bare) notes.push(`${many(bare, 'picture is', 'pictures are')} only linked: the thumbnail isn't stored, or this page would be too large.`);
    if (summary.warning) notes.push(summary.warning[0].toUpperCase() + summary.warning.slice(1) + '.');
    $('notes').append(...notes.map(text => element('p', {textContent: text})));
    const tile = (value, name, style = '') => $('tiles').append(element('li', {className: 'tile'},
      element('b', {textContent: value, className: style}), element('span', {className: 'soft', textContent: name})));
    tile(grouped(summary.hits), meanings.hit, summary.hits ? 'hit' : '');
    tile(grouped(summary.fetched), 'fetched');
    if (summary.revalidated) tile(grouped(summary.revalidated), meanings.revalidated);
    tile(grouped(summary.failed), 'failed', summary.failed ? 'bad' : '');
    tile(grouped(summary.rate), 'URLs a second');
    tile(sized(summary.bytes), 'received');
    const formats = Object.entries(summary.formats);
    if (formats.length) tile(formats.map(([name, n]) => `${name} ${grouped(n)}`).join(', '), 'formats', 'formats');
    if (summary.disk) tile(sized(summary.disk.used), `of ${sized(summary.disk.limit)} on disk`, summary.disk.fits ? '' : 'bad');
    const share = (parts, place) => {
      const whole = parts.reduce((sum, part) => sum + part.amount, 0);
      for (const part of parts) if (part.amount > 0) {
        const made = element('span', {title: `${part.name} ${part.text}`, className: part.style || ''});
        made.style.width = `${100 * part.amount / whole}%`;
        if (part.colour) made.style.background = part.colour;
        place.append(made);
      }
    };
    share(Object.keys(states).map(name => ({name, amount: summary[name == 'hit' ? 'hits' : name], style: `s-${name}`,
      text: grouped(summary[name == 'hit' ? 'hits' : name])})), $('outcome'));

    // Time by phase.
    const phases = ['queue', 'dns', 'connect', 'tls', 'first_byte', 'transfer', 'store', 'decode'];
    const hues = [250, 200, 180, 150, 95, 60, 30, 330];
    const colour = n => `oklch(70% .11 ${hues[n]})`;
    const timing = (times, place) => {
      const bar = element('div', {className: 'bar', role: 'presentation'}), key = element('ul', {className: 'key soft'});
      share(phases.map((name, n) => ({name: name.replace('_', ' '), amount: times[n], colour: colour(n), text: time(times[n])})), bar);
      phases.forEach((name, n) => {
        if (times[n] < .05) return;
        const mark = element('span', {className: 'dot'});
        mark.style.background = colour(n);
        key.append(element('li', {}, mark, `${name.replace('_', ' ')} ${time(times[n])}`));
      });
      place.append(bar, key);
    };
    const table = (caption, heads, rows) => element('table', {}, element('caption', {textContent: caption}),
      element('thead', {}, element('tr', {}, ...heads.map(text => element('th', {scope: 'col', textContent: text})))),
      element('tbody', {}, ...rows.map(cells => element('tr', {}, ...cells.map((cell, n) =>
        cell instanceof Node ? element('td', {}, cell) : element(n ? 'td' : 'th', n ? {textContent: cell} : {scope: 'row', textContent: cell}))))));
    const asked = items.filter(item => item.attempts > 0 && !item.error);
    if (asked.length) {
      const sorted = [...phases, 'total'].map(name => asked.map(item => item.ms[name]).sort((a, b) => a - b));
      const mean = list => list.reduce((sum, n) => sum + n, 0) / list.length;
      const at = (list, part) => list[Math.min(list.length - 1, Math.floor(list.length * part))];
      $('timingLine').textContent = `mean ${time(mean(sorted.at(-1)))}, median ${time(at(sorted.at(-1), .5))} for a URL that was sent to its server`;
      timing(sorted.slice(0, -1).map(mean), $('timing'));
      $('timing').append(table('URLs that were sent to their servers', ['phase', 'mean', 'median', '95 %', 'longest'], [...phases, 'total'].map((name, n) =>
        [name.replace('_', ' '), ...[mean(sorted[n]), at(sorted[n], .5), at(sorted[n], .95), sorted[n].at(-1)].map(time)])));
      if (summary.slowest_hosts.length) $('timing').append(table('The slowest hosts', ['host', 'URLs', 'failed', 'mean', 'longest'],
        summary.slowest_hosts.map(host => [host.host, grouped(host.urls), grouped(host.failed), time(host.mean_ms), time(host.longest_ms)])));
      $('times').hidden = false;
    }

    // Filters.
    let state = '';
    const chips = new Map();
    const chip = (value, text, n) => {
      const made = element('button', {type: 'button', 'aria-pressed': 'false'}, value ? dot(value) : null, `${text} ${grouped(n)}`);
      made.onclick = () => { state = state == value ? '' : value; show(); };
      chips.set(value, made);
      $('states').append(made);
    };
    chip('', 'all', items.length);
    for (const name of Object.keys(states)) {
      const n = items.filter(item => item.state == name).length;
      if (n) chip(name, states[name], n);
    }
    const choices = (id, name, value) => {
      const counts = new Map();
      for (const item of items) if (value(item)) counts.set(value(item), (counts.get(value(item)) || 0) + 1);
      $(id).append(element('option', {value: '', textContent: `every ${name}`}));
      const shown = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 1000);
      for (const [key, n] of shown) $(id).append(element('option', {value: key, textContent: `${key} (${grouped(n)})`}));
      if (!counts.size) $(id).hidden = true;
      $(id).onchange = show;
    };
    choices('reason', 'reason', item => item.reason);
    choices('format', 'format', item => item.format);
    choices('host', 'host', item => item.host);
    let typing;
    $('text').oninput = () => { clearTimeout(typing); typing = setTimeout(show, 120); };
    $('order').onchange = show;
    const orders = {list: null, slowest: (a, b) => b.ms.total - a.ms.total, largest: (a, b) => (b.bytes || 0) - (a.bytes || 0)};

    // Pictures are loaded only near the visible part of the page, a block at a time. Observing each picture made long pages drop
    // three of four frames.
    const block = 120;
    const near = new IntersectionObserver(changes => {
      for (const {target, isIntersecting} of changes)
        for (const image of target.querySelectorAll('img'))
          if (isIntersecting) image.src = image.item.thumb; else image.removeAttribute('src');
    }, {rootMargin: '1000px'});
    // A printed page needs all pictures.
    window.onbeforeprint = () => { for (const image of $('grid').querySelectorAll('img')) image.src = image.item.thumb; };
    window.onafterprint = () => {
      near.disconnect();
      for (const list of $('grid').children) near.observe(list);
    };
    const caption = item => {
      const facts = [item.w ? `${item.w}×${item.h}` : null, item.bytes == null ? null : sized(item.bytes)].filter(text => text);
      return element('p', {className: 'soft'}, facts.join(' · '),
        element('span', {className: facts.length ? 'time' : '', textContent: (facts.length ? ' · ' : '') + time(item.ms.total)}));
    };
    const figure = item => {
      let look;
      if (item.thumb) {
        look = element('button', {type: 'button', 'aria-label': `${item.name}, ${meanings[item.state]}, more about it`});
        const image = element('img', {alt: '', decoding: 'async'});
        image.item = item;
        look.append(image);
      } else look = linked(item.url, 'open ↗', {'aria-label': `open ${item.name}, ${meanings[item.state]}`});
      look.className = 'look';
      look.tabIndex = -1;
      const made = element('li', {}, look, element('p', {}, dot(item.state), linked(item.url, item.name, {tabIndex: -1, title: item.url})),
        caption(item));
      made.item = item;
      return made;
    };

    // Add the list to the page in pieces, so that the page can be used at once.
    let turn = 0;
    const fill = list => {
      const mine = ++turn, grid = $('grid');
      near.disconnect();
      grid.replaceChildren();
      grid.setAttribute('aria-busy', 'true');
      let next = 0;
      const step = () => {
        if (mine != turn) return;
        for (const end = next ? next + 6 * block : block; next < end && next < list.length; next += block) {
          const piece = list.slice(next, next + block);
          const made = element('ul', {className: piece.length == block ? 'grid whole' : 'grid'}, ...piece.map(figure));
          grid.append(made);
          near.observe(made);
        }
        if (next < list.length) return setTimeout(step);
        grid.setAttribute('aria-busy', 'false');
      };
      step();
      rove(0);
    };

    let shown = [];
    function show() {
      const [reason, format, host, text, order] = ['reason', 'format', 'host', 'text', 'order'].map(id => $(id).value);
      const wanted = text.toLowerCase();
      const list = items.filter(item => (!state || item.state == state) && (!reason || item.reason == reason || item.error == reason)
        && (!format || item.format == format) && (!host || item.host == host) && (!wanted || item.url.toLowerCase().includes(wanted)));
      if (orders[order]) list.sort(orders[order]);
      shown = list.filter(item => !item.error);
      const bad = list.filter(item => item.error);
      for (const [value, made] of chips) made.setAttribute('aria-pressed', value == state);
      $('count').textContent = [shown.length || !bad.length ? many(shown.length, 'picture', 'pictures') : '', bad.length ? many(bad.length, 'failure', 'failures') : '']
        .filter(text => text).join(', ');
      fill(shown);
      showFailures(bad);
      $('pictures').hidden = !shown.length && bad.length > 0;
      $('none').hidden = shown.length > 0;
      const kept = new URLSearchParams(Object.entries({state, reason, format, host, text}).filter(([, value]) => value)).toString();
      try { history.replaceState(null, '', kept ? '#' + kept : location.pathname + location.search); } catch { /* not allowed for this page */ }
    }

    function showFailures(bad) {
      $('failures').hidden = !bad.length;
      $('groups').replaceChildren();
      const groups = new Map();
      for (const item of bad) if (groups.has(item.reason)) groups.get(item.reason).push(item); else groups.set(item.reason, [item]);
      for (const [reason, list] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
        const urls = element('ul', {className: 'urls'}), more = element('button', {type: 'button', textContent: 'Show more'});
        let next = 0;
        const add = () => {
          urls.append(...list.slice(next, next += 100).map(item => element('li', {}, linked(item.url, short(item.url)), element('div', {className: 'soft',
            textContent: `line ${item.line} · ${many(item.attempts, 'try', 'tries')} · ${told(item)}`}))));
          more.hidden = next >= list.length;
          more.textContent = `Show more of ${grouped(list.length)}`;
        };
        more.onclick = add;
        const what = list[0].error == 'http' && adviceByStatus[list[0].status] || advice[list[0].error] || '';
        const group = element('details', {className: 'group', open: bad.length <= 20}, element('summary', {},
          element('b', {className: 'bad', textContent: reason}), `${grouped(list.length)} `, element('span', {className: 'soft'}, ...advised(what))));
        const body = element('div', {}, urls, more);
        // Fill a group only when it is opened.
        const open = () => { if (group.open && !next) add(); };
        group.ontoggle = open;
        open();
        group.append(body);
        $('groups').append(group);
      }
    }

    // The keyboard: Tab reaches the grid once, and the arrow keys move inside it.
    let here = 0;
    const entry = n => $('grid').children[Math.floor(n / block)]?.children[n % block];
    const rove = n => {
      const [before, now] = [entry(here), entry(n)];
      if (before) before.firstElementChild.tabIndex = -1;
      here = n;
      if (now) now.firstElementChild.tabIndex = 0;
      return now;
    };
    const place = target => shown.indexOf(target.closest('li')?.item);
    $('grid').addEventListener('focusin', event => rove(place(event.target)));
    $('grid').onkeydown = event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const columns = Number(getComputedStyle($('grid')).getPropertyValue('--columns'));
      const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -here, End: shown.length - 1 - here}[event.key];
      if (step == null || !entry(here + step)) return;
      event.preventDefault();
      rove(here + step).firstElementChild.focus();
    };
    $('skip').onclick = event => {
      event.preventDefault();
      entry(here)?.firstElementChild.focus();
    };

    // The dialog with details.
    let looked = 0;
    const look = n => {
      looked = n;
      const item = shown[n];
      $('name').textContent = item.name;
      $('picture').replaceChildren(item.thumb ? element('img', {src: item.thumb, alt: `thumbnail of ${item.name}`}) : 'linked, not embedded');
      const rows = [['URL', linked(item.url, short(item.url), {title: item.url})],
        item.final && item.final != item.url ? ['answered by', linked(item.final, short(item.final), {title: item.final})] : null,
        ['outcome', meanings[item.state] + (item.stale ? ', stale' : '')], item.w ? ['picture', `${item.w}×${item.h}${item.kind ? ', ' + item.kind : ''}`] : null, ['thumbnails', item.sizes],
        item.bytes == null ? null : ['bytes', `${grouped(item.bytes)}${item.type ? ', ' + item.type : ''}`], ['place', `line ${item.line}`],
        item.attempts ? ['requests', grouped(item.attempts)] : null, ['time', time(item.ms.total)]];
      $('facts').replaceChildren(...rows.filter(row => row).flatMap(([name, value]) => [element('dt', {textContent: name}), element('dd', {}, value)]));
      $('phases').replaceChildren();
      if (item.attempts) timing(phases.map(name => item.ms[name]), $('phases'));
      $('before').disabled = n == 0;
      $('after').disabled = n == shown.length - 1;
    };
    $('grid').onclick = event => {
      const button = event.target.closest('button.look');
      if (!button) return;
      look(place(button));
      $('look').showModal();
      // The focused button may be at the end of a long dialog.
      $('look').scrollTop = 0;
    };
    $('before').onclick = () => looked > 0 && look(looked - 1);
    $('after').onclick = () => looked < shown.length - 1 && look(looked + 1);
    $('close').onclick = () => $('look').close();
    $('look').onclick = event => event.target == $('look') && $('look').close();
    $('look').onkeydown = event => {
      if (event.key == 'ArrowLeft') $('before').click(); else if (event.key == 'ArrowRight') $('after').click();
    };

    // A link can have filters: report.html#state=failed&host=example.org
    const read = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      state = chips.has(asked.get('state')) ? asked.get('state') : '';
      for (const id of ['reason', 'format', 'host', 'text']) {
        const value = asked.get(id) || '';
        // A reason without a status, such as http, matches every status.
        if (value && id == 'reason' && ![...$(id).options].some(option => option.value == value) && items.some(item => item.error == value))
          $(id).append(element('option', {value, textContent: value}));
        $(id).value = value;
        if (id != 'text' && $(id).selectedIndex < 0) $(id).selectedIndex = 0;
      }
      show();
    };
    window.onhashchange = read;
    read();

    """#
}
