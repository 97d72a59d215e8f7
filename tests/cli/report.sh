# report.sh - records to pages; the records are made up.
. "$(dirname "$0")/harness.sh"
mkdir runs
cat >runs/records.jsonl <<'LINES'
{"what":"defence","mode":"paper","setting":"seen","dataset":"cora","model":"gcn","method":"none","train":"none","seed":1,"set":1,"metrics":{"victims_before":0.8,"victims_attacked":0.2,"victims":0.2}}
{"what":"defence","mode":"paper","setting":"seen","dataset":"cora","model":"gcn","method":"graphss","train":"evasion","seed":1,"set":1,"metrics":{"victims_before":0.8,"victims_attacked":0.2,"victims":0.6}}
{"what":"alert","mode":"honest","setting":"new","dataset":"cora","model":"gcn","method":"alert","seed":1,"set":1,"error":{"code":4,"message":"no memory"}}
LINES

case_ "a page, and what it was made of"
run report runs -o page.html
exits 0; out "Records  3, 1 of them failures"; out "page.html"; no_err; present page.html
grep -q '</html>' page.html || complain "the page is not whole"

case_ "JSON"
run report runs -o page.html --json
exits 0; json path page.html; json records 3; json errors 1

case_ "the same records give the same bytes, and a file does for a folder"
cp page.html first.html
run report runs -o page.html
exits 0; same page.html first.html

case_ "the other formats and the plots"
run report runs -o t.md --plots plots
exits 0; present plots/fig-defence-paper-seen-gcn-1.svg
grep -qF 'plots/fig-defence-paper-seen-gcn-1.svg' t.md || complain "no picture in t.md"
grep -qF '| GCN | GraphSS | before | 1 | 60.0 | 65.4 ± 2.6 | −5.4 | differs |' t.md ||
    complain "t.md lacks the row of GraphSS"
run report runs/records.jsonl -o t.csv
exits 0; present t.csv
run report runs -o t.tex
exits 0; present t.tex

case_ "folders below are read as well; a cell that comes again counts once"
mkdir many many/a many/b
cp runs/records.jsonl many/a/
tail -n 2 runs/records.jsonl >many/b/records.jsonl
run report many -o m.html --json
exits 0; json records 3
mkdir empty
run report empty -o x.html
exits 3; err "no records.jsonl"; absent x.html

case_ "wrong usage and broken records"
run report runs
exits 2; err "want -o FILE"
run report runs -o page.pdf
exits 2; err "want a name that ends in"
run report nothing -o x.html
exits 3; err "nothing"; absent x.html
mkdir broken
printf '{"what":"alert"}\n{"what":\n' >broken/records.jsonl
run report broken -o x.html
exits 3; err "broken/records.jsonl:2:"; absent x.html

case_ "points of a sweep are never one mean, also where the tables have no place for them"
mkdir swept
for attacker in nettack random; do
    for seed in 1 2; do
        case $attacker$seed in
            nettack1) victims=0.2 ;;
            nettack2) victims=0.4 ;;
            random1) victims=0.7 ;;
            random2) victims=0.9 ;;
        esac
        printf '{"what":"defence","mode":"honest","setting":"new","dataset":"cora","model":"gcn","method":"none","train":"none","seed":%s,"set":1,"parameter":"attacker","value":"%s","metrics":{"victims_before":0.9,"victims":%s}}\n' \
            $seed $attacker $victims
    done
done >swept/records.jsonl
run report swept -o swept.md
exits 0
grep -qF 'Defence, honest mode, setting new, attacker nettack' swept.md || complain "no heading"
grep -qF '| undefended | 2 | **30.0 ± 14.1** |' swept.md || complain "no row of nettack"
grep -qF '| undefended | 2 | **80.0 ± 14.1** |' swept.md || complain "no row of random"
! grep -qF "55.0" swept.md || complain "the mean of two attackers"
grep -qF '| Defence | honest | new, attacker random | 2 |' swept.md || complain "no row of runs"
finish
